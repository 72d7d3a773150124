import Notifications
import RegistryCore
import RegistrySQL

/// The statements about tokens that devices have beside their alert tokens.
enum TokenCalls {
    /// Reads and locks the devices of these names: the columns for a push, and the number and name of the app.
    static func lockDevices(_ deviceIDs: [String]) -> Call {
        Call(
            """
            SELECT \(Recipient.readColumns), d.app, (SELECT a.name FROM apus.app a WHERE a.id = d.app)
            FROM apus.device d WHERE d.id IN (
                SELECT x.id FROM unnest($1::text[]) r(name) JOIN apus.device x ON x.device_id = r.name)
            ORDER BY d.id FOR NO KEY UPDATE
            """, [.texts(deviceIDs)])
    }

    /// Executes a plan.
    static func carryOut(_ plan: TokenPlan) -> [Call] {
        let taken = plan.taken
        return [
            Call(
                """
                DELETE FROM apus.device_token t USING unnest($1::bytea[], $2::bigint[], $3::text[]) r(token, app, kind)
                WHERE t.token = r.token AND t.app = r.app AND t.kind = r.kind
                """,
                [
                    .byteLists(taken.map(\.token.token.bytes)), .integers(taken.map(\.app)),
                    .texts(taken.map(\.token.kind.rawValue)),
                ]),
            Call(
                """
                DELETE FROM apus.device_token t USING unnest($1::text[], $2::text[]) r(device, kind)
                JOIN apus.device d ON d.device_id = r.device WHERE t.device = d.id AND t.kind = r.kind
                """, [.texts(taken.map(\.token.deviceID)), .texts(taken.map(\.token.kind.rawValue))]),
            give(plan.given),
        ]
    }

    /// Gives devices tokens that no device has, of kinds that they have not.
    private static func give(_ tokens: [FurtherToken]) -> Call {
        Call(
            """
            INSERT INTO apus.device_token (device, kind, token, app, registered_at)
            SELECT d.id, r.kind, r.token, d.app, r.registered_at
            FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[]) r(device, kind, token, registered_at)
            JOIN apus.device d ON d.device_id = r.device
            """,
            [
                .texts(tokens.map(\.deviceID)), .texts(tokens.map(\.kind.rawValue)),
                .byteLists(tokens.map(\.token.bytes)), .integers(tokens.map(\.registeredAtMilliseconds)),
            ])
    }

    /// Takes all tokens from devices, by their rows.
    static func end(of rows: [Int64]) -> Call {
        Call("DELETE FROM apus.device_token WHERE device = ANY ($1::bigint[])", [.integers(rows)])
    }

    /// Makes devices, which are there, have the tokens of their records and no others.
    static func fill(_ records: [DeviceRecord]) -> [Call] {
        let tokens = records.flatMap { record in record.tokens.map { (record.device.app, $0) } }
        return [
            Call(
                """
                DELETE FROM apus.device_token t
                WHERE t.device IN (
                    SELECT d.id FROM unnest($1::text[]) r(name) JOIN apus.device d ON d.device_id = r.name)
                """, [.texts(records.map(\.device.deviceID))]),
            Call(
                """
                DELETE FROM apus.device_token t USING unnest($1::bytea[], $2::text[], $3::text[]) r(token, app, kind)
                JOIN apus.app a ON a.name = r.app WHERE t.token = r.token AND t.app = a.id AND t.kind = r.kind
                """,
                [
                    .byteLists(tokens.map(\.1.token.bytes)), .texts(tokens.map(\.0)),
                    .texts(tokens.map(\.1.kind.rawValue)),
                ]),
            give(tokens.map(\.1)),
        ]
    }

    /// The tokens of devices: index in the list from 1, then the token's columns.
    static func tokens(of deviceIDs: [String]) -> Call {
        Call(
            """
            SELECT r.k, \(FurtherToken.readColumns) FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            JOIN apus.device d ON d.device_id = r.name JOIN apus.device_token t ON t.device = d.id ORDER BY r.k, t.kind
            """, [.texts(deviceIDs)])
    }

    /// The registrations of tokens: index in the list from 1, kind, platform.
    static func kinds(of tokens: [DeviceToken], app: String) -> Call {
        Call(
            """
            SELECT r.k, x.kind, x.platform FROM unnest($1::bytea[]) WITH ORDINALITY r(token, k)
            JOIN apus.app a ON a.name = $2::text
            CROSS JOIN LATERAL (
                SELECT '\(TokenKind.alert.rawValue)'::text AS kind, d.platform FROM apus.device d
                WHERE d.token = r.token AND d.app = a.id
                UNION ALL
                SELECT t.kind, d.platform FROM apus.device_token t JOIN apus.device d ON d.id = t.device
                WHERE t.token = r.token AND t.app = a.id) x
            """, [.byteLists(tokens.map { AddressKey(ofUnknownPlatform: $0).bytes }), .text(app)])
    }

    /// Removes dead tokens that are no alert tokens.
    static func prune(_ deadTokens: [DeadToken]) -> Call {
        Call(
            """
            DELETE FROM apus.device_token t
            USING unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[], $5::bigint[])
                r(app, platform, kind, token, since)
            JOIN apus.app a ON a.name = r.app, apus.device d
            WHERE t.token = r.token AND t.app = a.id AND t.kind = r.kind AND d.id = t.device
                AND d.platform = r.platform AND (r.since IS NULL OR t.registered_at < r.since)
            """,
            [
                .texts(deadTokens.map(\.app)), .integers(deadTokens.map(\.platform.registryNumber)),
                .texts(deadTokens.map(\.kind.rawValue)), .byteLists(deadTokens.map(\.token.bytes)),
                .optionalIntegers(deadTokens.map(\.deadSinceMilliseconds)),
            ])
    }

    /// Removes the devices of dead alert tokens.
    static func pruneDevices(_ deadTokens: [DeadToken]) -> Call {
        let keys = deadTokens.map { AddressKey($0.token, $0.platform) }
        return Call(
            """
            DELETE FROM apus.device d
            USING unnest($1::text[], $2::bigint[], $3::bytea[], $4::bigint[]) r(app, platform, token, since)
            JOIN apus.app a ON a.name = r.app
            WHERE d.token = r.token AND d.app = a.id AND d.platform = r.platform
                AND (r.since IS NULL OR d.registered_at < r.since)
            """,
            [
                .texts(deadTokens.map(\.app)), .integers(keys.map(\.platformNumber)), .byteLists(keys.map(\.bytes)),
                .optionalIntegers(deadTokens.map(\.deadSinceMilliseconds)),
            ])
    }
}

/// The combined effect of a batch of further tokens, so that a few statements apply it at once.
struct TokenPlan {
    private struct TokenKey: Hashable {
        let token: DeviceToken
        let app: Int64
        let kind: TokenKind
    }

    // Identifiers are compared by their bytes, as the database does, and not as equal texts.
    private struct Slot: Hashable {
        let deviceID: [UInt8]
        let kind: TokenKind
    }

    /// The tokens of the batch, each with the number of its app.
    ///
    /// Any other device with one loses it, and its new device loses its former token of the kind.
    private(set) var taken: [(token: FurtherToken, app: Int64)] = []
    private var held: [Slot: FurtherToken] = [:]
    private var holders: [TokenKey: Slot] = [:]

    /// The final tokens of the devices.
    var given: [FurtherToken] { Array(held.values) }

    /// Whether there is nothing to do.
    var isEmpty: Bool { taken.isEmpty }

    /// A device is removed, or loses its further tokens, in the middle of the batch.
    mutating func lost(_ deviceID: String) {
        let name = Array(deviceID.utf8)
        held = held.filter { $0.key.deviceID != name }
        holders = holders.filter { $0.value.deviceID != name }
    }

    /// Adds the next token of the batch.
    mutating func add(_ token: FurtherToken, app: Int64) {
        let slot = Slot(deviceID: Array(token.deviceID.utf8), kind: token.kind)
        let key = TokenKey(token: token.token, app: app, kind: token.kind)
        taken.append((token, app))
        if let old = held[slot] { holders[TokenKey(token: old.token, app: app, kind: token.kind)] = nil }
        if let other = holders[key] { held[other] = nil }
        held[slot] = token
        holders[key] = slot
    }
}
