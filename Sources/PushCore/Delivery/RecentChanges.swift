/// Remembers the newest sync counts that this worker has announced, so that it announces no older state of a dataset
/// after a newer one: neither by a retry nor by an event that comes late.
///
/// A count is announced when pushes of its event are on their way, and not to the device that made the change. A
/// redelivery of an event is no other event, so it is never held against itself: the broker has it until it is settled.
///
/// Counts begin anew in a dataset that is deleted and made again, so a deletion makes this worker forget them. Another
/// worker may have taken the deletion in. So a count is held only against events that this worker saw before it, or up
/// to `holdMilliseconds` after it: events that overtake each other do so by seconds, and a dataset that was made again
/// is announced after that time at the latest.
///
/// When it is full it forgets old ones, which costs a redundant push and never loses one.
public struct RecentChanges: Sendable {
    fileprivate struct Announcement: BitwiseCopyable {
        var syncCount: Int64
        var atMilliseconds: Int64
        var event: Mark
        /// The device that was not told, because it made the change.
        var device: Mark
    }

    fileprivate struct Entry: BitwiseCopyable {
        var newest: Announcement
        /// The newest one that the maker of `newest` was told of.
        var newestOfOthers: Announcement?
    }

    /// Stands for a device, an event, or nothing: 64 bits of the hash of its names.
    fileprivate struct Mark: Equatable, BitwiseCopyable {
        var hash: UInt64

        init(_ names: String?...) {
            var digest = WordDigest(seed: WordDigest.secretSeed)
            for name in names { if let name { digest.mix(name) } }
            digest.finish()
            hash = digest.low
        }
    }

    /// What was announced that makes an event redundant, for some devices or all.
    public struct Newer: Sendable {
        fileprivate let entry: Entry
        fileprivate let syncCount: Int64
        fileprivate let event: Mark
        fileprivate let firstSeen: Timestamp

        /// Whether a device was told of a count that is not older.
        public func wasTold(_ deviceID: String) -> Bool {
            let told = entry.newest.device == Mark(deviceID) ? entry.newestOfOthers : entry.newest
            guard let told, told.event != event, told.syncCount >= syncCount else { return false }
            return Timestamp(milliseconds: told.atMilliseconds).advanced(byMilliseconds: RecentChanges.holdMilliseconds)
                >= firstSeen
        }
    }

    /// The most datasets that it remembers.
    public static let datasetsMaximum = 32_768
    /// How long a count is held against events that this worker sees after it, in milliseconds.
    public static let holdMilliseconds: Int64 = 60_000

    private var entries = DigestCache<Entry>(capacity: Self.datasetsMaximum)

    /// Creates an empty memory.
    public init() {}

    /// Pushes of a fresh event are on their way; the `deviceID` of its change is the device that is not told of it.
    ///
    /// - Parameters:
    ///   - change: what happened; any but a change with a count makes the counts before it say nothing.
    ///   - source: the source of the event.
    ///   - identifier: the identifier of the event.
    ///   - now: the wall clock.
    public mutating func announced(_ change: DatasetChange, source: String, identifier: String, at now: Timestamp) {
        guard change.operation == .changed, let syncCount = change.syncCount else { return forget(change.key) }
        let said = Announcement(
            syncCount: syncCount, atMilliseconds: now.milliseconds, event: Mark(source, identifier),
            device: Mark(change.deviceID))
        guard var entry = entries[change.key.digest] else {
            return entries.set(Entry(newest: said), for: change.key.digest)
        }
        let isHeld = now.milliseconds - entry.newest.atMilliseconds <= Self.holdMilliseconds
        if syncCount >= entry.newest.syncCount || !isHeld {
            entry.newestOfOthers = entry.newest.device == said.device ? entry.newestOfOthers : entry.newest
            entry.newest = said
        } else if entry.newest.device != said.device, syncCount > entry.newestOfOthers?.syncCount ?? -1 {
            // Only the maker of the newest change can have been told of this one.
            entry.newestOfOthers = said
        }
        entries.set(entry, for: change.key.digest)
    }

    /// The dataset was deleted or merged into: its counts say nothing any more.
    public mutating func forget(_ key: DatasetKey) { entries.remove(key.digest) }

    /// What was announced that makes an event redundant for the devices that were told of it.
    ///
    /// - Parameters:
    ///   - change: what the event says.
    ///   - source: the source of the event.
    ///   - identifier: the identifier of the event.
    ///   - firstSeen: when Apus first received the event.
    /// - Returns: what was announced; nil if nothing that is not older.
    public func newer(
        than change: DatasetChange, source: String, identifier: String, firstSeen: Timestamp
    ) -> Newer? {
        guard change.operation == .changed, let syncCount = change.syncCount, let entry = entries[change.key.digest],
            max(entry.newest.syncCount, entry.newestOfOthers?.syncCount ?? 0) >= syncCount
        else { return nil }
        return Newer(entry: entry, syncCount: syncCount, event: Mark(source, identifier), firstSeen: firstSeen)
    }
}
