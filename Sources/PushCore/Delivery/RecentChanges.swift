/// Remembers the newest sync counts that this worker has seen, so that a retry does not announce an older state after a
/// newer one was announced.
///
/// It forgets the oldest half when it is full, which costs a redundant push and never loses one.
public struct RecentChanges: Sendable {
    private struct Seen {
        var syncCount: Int64
        var seenAtMilliseconds: Int64
        /// The device that was not told, because it made the change.
        var deviceID: String?
    }

    private struct Entry {
        var newest: Seen
        /// The newest one that the maker of `newest` was told of.
        var newestOfOthers: Seen?
    }

    /// The most datasets in each of the two generations.
    public static let generationMaximum = 16_384

    private var young: [DatasetKey: Entry] = [:]
    private var old: [DatasetKey: Entry] = [:]

    /// Creates an empty memory.
    public init() {}

    /// A fresh event was seen; its `deviceID` is the device that is not told of it.
    public mutating func saw(_ change: DatasetChange, atMilliseconds now: Int64) {
        guard change.operation == .changed, let syncCount = change.syncCount else {
            // After a deletion counts begin anew, so the old ones say nothing.
            young[change.key] = nil
            old[change.key] = nil
            return
        }
        let seen = Seen(syncCount: syncCount, seenAtMilliseconds: now, deviceID: change.deviceID)
        guard let known = young[change.key] ?? old[change.key] else { return insert(Entry(newest: seen), change.key) }
        guard known.newest.syncCount <= syncCount else { return }
        let others = known.newest.deviceID == seen.deviceID ? known.newestOfOthers : known.newest
        insert(Entry(newest: seen, newestOfOthers: others), change.key)
    }

    private mutating func insert(_ entry: Entry, _ key: DatasetKey) {
        if young.count >= Self.generationMaximum {
            old = young
            young = [:]
        }
        young[key] = entry
    }

    /// Whether a retry of `change` to `deviceID` is redundant: a newer change was seen after the event of the retry,
    /// and
    /// another device made it, so this device was told of it.
    public func supersedes(
        _ change: DatasetChange, firstSeenMilliseconds: Int64, deviceID: String
    ) -> Bool {
        guard change.operation == .changed, let syncCount = change.syncCount else { return false }
        guard let entry = young[change.key] ?? old[change.key] else { return false }
        let told = entry.newest.deviceID == deviceID ? entry.newestOfOthers : entry.newest
        guard let told else { return false }
        return told.syncCount > syncCount && told.seenAtMilliseconds >= firstSeenMilliseconds
    }
}
