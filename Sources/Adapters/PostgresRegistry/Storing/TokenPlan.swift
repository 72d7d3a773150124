import Notifications
import PushCore

/// What a batch of further tokens comes to, so that a few statements do at once what it says one after the other.
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

    /// The tokens of the batch, each with the number of its app: whatever device has one loses it, and a device that is
    /// to have one loses what it has of the kind.
    private(set) var taken: [(token: FurtherToken, app: Int64)] = []
    private var held: [Slot: FurtherToken] = [:]
    private var holders: [TokenKey: Slot] = [:]

    /// What devices have in the end.
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
