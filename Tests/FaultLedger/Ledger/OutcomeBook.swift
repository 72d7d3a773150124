/// What the backend of the app was told of its pushes.
struct OutcomeBook: Sendable {
    /// A push, by device and number of its event.
    struct Key: Hashable {
        let device: Int
        let event: Int
    }

    private var ended: Set<Key> = []
    private var accepted: Set<Key> = []
    /// How often the acceptance of a push was told beyond the first time.
    private(set) var repeatedCount = 0

    /// The backend was told that a push has ended for good.
    mutating func ended(_ key: Key, isAccepted: Bool) {
        ended.insert(key)
        if isAccepted, !accepted.insert(key).inserted { repeatedCount += 1 }
    }

    /// Whether the backend was told how a push ended.
    func has(_ key: Key) -> Bool { ended.contains(key) }
}
