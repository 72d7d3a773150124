import Notifications

/// The outcomes that the app's backend received.
struct OutcomeBook: Sendable {
    /// A push, by device and number of its event.
    struct Key: Hashable {
        let device: Int
        let event: Int
    }

    private var ended: Set<Key> = []
    private var accepted: Set<Key> = []
    private var coalesced: Set<Key> = []
    /// How often the acceptance of a push was told beyond the first time.
    private(set) var repeatedCount = 0

    /// The backend was told that a push has ended for good.
    mutating func ended(_ key: Key, as kind: OutcomeKind) {
        ended.insert(key)
        if kind == .accepted, !accepted.insert(key).inserted { repeatedCount += 1 }
        if kind == .coalesced { coalesced.insert(key) }
    }

    /// Whether the backend was told how a push ended.
    func has(_ key: Key) -> Bool { ended.contains(key) }

    /// Whether the backend was told that a push was left out, because a newer event says the same.
    func isCoalesced(_ key: Key) -> Bool { coalesced.contains(key) }
}
