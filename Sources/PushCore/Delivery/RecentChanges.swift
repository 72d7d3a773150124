/// Remembers the newest sync counts that this worker has seen, so that a retry does not announce an older state after a
/// newer one was announced.
///
/// It forgets the oldest half when it is full, which costs a redundant push and never loses one.
public struct RecentChanges: Sendable {
    private struct Entry {
        var syncCount: Int64
        var seenAtMilliseconds: Int64
        var deviceID: String?
    }

    /// The most datasets in each of the two generations.
    public static let generationMaximum = 16_384

    private var young: [DatasetKey: Entry] = [:]
    private var old: [DatasetKey: Entry] = [:]

    /// Creates an empty memory.
    public init() {}

    /// A fresh event was seen.
    public mutating func saw(_ change: DatasetChange, atMilliseconds now: Int64) {
        guard change.operation == .changed, let syncCount = change.syncCount else {
            // After a deletion counts begin anew, so the old ones say nothing.
            young[change.key] = nil
            old[change.key] = nil
            return
        }
        if let known = young[change.key], known.syncCount > syncCount { return }
        if young.count >= Self.generationMaximum {
            old = young
            young = [:]
        }
        young[change.key] = Entry(syncCount: syncCount, seenAtMilliseconds: now, deviceID: change.deviceID)
    }

    /// Whether a retry of `change` to `deviceID` is redundant: a newer change was seen after the event of the retry,
    /// and
    /// another device made it, so this device was told of it.
    public func supersedes(
        _ change: DatasetChange, firstSeenMilliseconds: Int64, deviceID: String
    ) -> Bool {
        guard change.operation == .changed, let syncCount = change.syncCount else { return false }
        guard let newer = young[change.key] ?? old[change.key] else { return false }
        return newer.syncCount > syncCount && newer.seenAtMilliseconds > firstSeenMilliseconds
            && newer.deviceID != deviceID
    }
}
