import Essentials
import Notifications
import RegistryCore

/// The combined effect of a batch of further tokens, so that a few statements apply it at once.
struct TokenPlan {
    private struct TokenKey: Hashable {
        let token: DeviceToken
        let app: Int64
        let kind: TokenKind
    }

    private struct Slot: Hashable {
        let deviceID: ByteText
        let kind: TokenKind
    }

    /// The tokens of the batch, each with the number of its app.
    ///
    /// Any other device with one loses it, and its new device loses its former token of the kind.
    private var taken: [(token: FurtherToken, app: Int64)] = []
    /// The final tokens of the devices.
    private var held: [Slot: (token: FurtherToken, app: Int64)] = [:]
    private var holders: [TokenKey: Slot] = [:]

    /// A device is removed, or loses its further tokens, in the middle of the batch.
    mutating func lost(_ deviceID: String) {
        for kind in TokenKind.further { empty(Slot(deviceID: ByteText(deviceID), kind: kind)) }
    }

    private mutating func empty(_ slot: Slot) {
        guard let old = held.removeValue(forKey: slot) else { return }
        holders[TokenKey(token: old.token.token, app: old.app, kind: slot.kind)] = nil
    }

    /// Adds the next token of the batch.
    mutating func add(_ token: FurtherToken, app: Int64) {
        let slot = Slot(deviceID: ByteText(token.deviceID), kind: token.kind)
        let key = TokenKey(token: token.token, app: app, kind: token.kind)
        taken.append((token, app))
        empty(slot)
        if let other = holders[key] { held[other] = nil }
        held[slot] = (token, app)
        holders[key] = slot
    }

    /// The statements that apply it; the devices are there.
    var statements: [SQLStatement] {
        guard !taken.isEmpty else { return [] }
        let takenColumns: [StoredColumn<(token: FurtherToken, app: Int64)>] = [
            .text("device") { $0.token.deviceID }, .text("kind") { $0.token.kind.rawValue },
            .bytes("token") { $0.token.token.bytes }, .integer("app") { $0.app },
        ]
        let givenColumns: [StoredColumn<FurtherToken>] = [
            .text("device") { $0.deviceID }, .text("kind") { $0.kind.rawValue }, .bytes("token") { $0.token.bytes },
            .integer("registered_at") { $0.registeredAtMilliseconds },
        ]
        return [
            """
            DELETE FROM \(table: "device_token") WHERE (device, kind) IN (
                SELECT t.device, t.kind FROM \(rows: takenColumns, of: taken) CROSS JOIN \(table: "device_token") t
                WHERE t.token = r.token AND t.app = r.app AND t.kind = r.kind)
            """,
            """
            DELETE FROM \(table: "device_token") WHERE (device, kind) IN (
                SELECT d.id, r.kind FROM \(rows: takenColumns, of: taken) CROSS JOIN \(table: "device") d
                WHERE d.device_id = r.device)
            """,
            """
            INSERT INTO \(table: "device_token") (device, kind, token, app, registered_at)
            SELECT d.id, r.kind, r.token, d.app, r.registered_at
            FROM \(rows: givenColumns, of: held.values.map(\.token)) CROSS JOIN \(table: "device") d
            WHERE d.device_id = r.device
            """,
        ]
    }
}
