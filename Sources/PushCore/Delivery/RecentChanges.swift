/// Remembers the newest sync counts that this worker has seen, so that a retry does not announce an older state after a
/// newer one was announced.
///
/// When it is full it forgets old ones, which costs a redundant push and never loses one.
public struct RecentChanges: Sendable {
    private struct Seen: BitwiseCopyable {
        var syncCount: Int64
        var seenAtMilliseconds: Int64
        /// The device that was not told, because it made the change.
        var device: DeviceMark
    }

    private struct Entry: BitwiseCopyable {
        var newest: Seen
        /// The newest one that the maker of `newest` was told of.
        var newestOfOthers: Seen?
    }

    /// Stands for a device, or for none: 64 bits of the hash of its name.
    private struct DeviceMark: Equatable, BitwiseCopyable {
        var hash: UInt64

        init(_ deviceID: String?) {
            var digest = WordDigest(seed: WordDigest.secretSeed)
            if let deviceID { digest.mix(deviceID) }
            digest.finish()
            hash = digest.low
        }
    }

    /// The most datasets that it remembers.
    public static let datasetsMaximum = 32_768

    private var entries = DigestCache<Entry>(capacity: Self.datasetsMaximum)

    /// Creates an empty memory.
    public init() {}

    /// A fresh event was seen; its `deviceID` is the device that is not told of it.
    public mutating func saw(_ change: DatasetChange, atMilliseconds now: Int64) {
        guard change.operation == .changed, let syncCount = change.syncCount else {
            // After a deletion counts begin anew, so the old ones say nothing.
            return entries.remove(change.key.digest)
        }
        let seen = Seen(syncCount: syncCount, seenAtMilliseconds: now, device: DeviceMark(change.deviceID))
        guard let known = entries[change.key.digest] else {
            return entries.set(Entry(newest: seen), for: change.key.digest)
        }
        guard known.newest.syncCount <= syncCount else { return }
        let others = known.newest.device == seen.device ? known.newestOfOthers : known.newest
        entries.set(Entry(newest: seen, newestOfOthers: others), for: change.key.digest)
    }

    /// Whether a retry of `change` to `deviceID` is redundant: a newer change was seen after the event of the retry,
    /// and another device made it, so this device was told of it.
    public func supersedes(
        _ change: DatasetChange, firstSeen: Timestamp, deviceID: String
    ) -> Bool {
        guard change.operation == .changed, let syncCount = change.syncCount else { return false }
        guard let entry = entries[change.key.digest] else { return false }
        let told = entry.newest.device == DeviceMark(deviceID) ? entry.newestOfOthers : entry.newest
        guard let told else { return false }
        return told.syncCount > syncCount && told.seenAtMilliseconds >= firstSeen.milliseconds
    }
}
