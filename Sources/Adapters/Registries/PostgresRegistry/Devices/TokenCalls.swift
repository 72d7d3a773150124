import Notifications
import RegistryCore
import RegistrySQL

/// The statements about tokens that devices have beside their alert tokens.
enum TokenCalls {
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
