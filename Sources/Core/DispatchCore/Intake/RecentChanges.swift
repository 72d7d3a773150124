import Essentials
import Hashing
public import Notifications

/// Remembers the newest sync count that this worker has sent to each device.
///
/// So no device gets an older state of a dataset after a newer one, neither by a retry nor by a late event.
///
/// Only a push that APNs has accepted counts. A push that is tried again, expires or becomes a dead letter leaves
/// nothing here, and neither does a device that made the change or subscribed later. So an event is never left out for
/// a device that no other event has reached. A redelivery of an event is the same event, so it is never suppressed by
/// itself.
///
/// Counts restart in a dataset that is deleted and created again, so a deletion makes this worker forget them. Another
/// worker may have taken the deletion in. So a count only suppresses events that were first seen before that of the
/// count, or up to `validityMilliseconds` after it. Events overtake each other by seconds, and a dataset that was
/// created again is announced after that time at the latest.
///
/// When it is full it forgets old ones, which costs a redundant push and never loses one.
struct RecentChanges: Sendable {
    private struct Told: BitwiseCopyable {
        var syncCount: Int64
        var firstSeenMilliseconds: Int64
        var event: UInt64
    }

    /// The most devices whose last announcement is remembered.
    static let devicesMaximum = 131_072
    /// For how long a count applies to events that this worker sees after its own, in milliseconds.
    static let validityMilliseconds: Int64 = 60_000
    private static let deletionsCount = 32_768

    private var entries = DigestCache<Told>(capacity: Self.devicesMaximum)
    /// The last deletion at each index, which datasets share: a deletion also makes the others forgotten.
    private var deletedMilliseconds = [Int64](repeating: -1, count: Self.deletionsCount)

    /// Creates an empty memory.
    init() {}

    /// APNs has accepted a push.
    ///
    /// - Parameters:
    ///   - deviceID: the device that it was for.
    ///   - announcement: the announcement.
    mutating func noteTold(_ deviceID: String, of announcement: DatasetAnnouncement) {
        let deleted = deletedMilliseconds[Self.index(of: announcement.dataset)]
        // A retry may be accepted after a deletion that came after its event.
        guard announcement.firstSeenMilliseconds > deleted else { return }
        var told = Told(
            syncCount: announcement.syncCount, firstSeenMilliseconds: announcement.firstSeenMilliseconds,
            event: announcement.event)
        let digest = announcement.digest(for: deviceID)
        if let known = entries[digest], known.firstSeenMilliseconds > deleted, Self.applies(known, to: announcement) {
            guard known.syncCount <= told.syncCount else { return }
            told.firstSeenMilliseconds = max(told.firstSeenMilliseconds, known.firstSeenMilliseconds)
        }
        entries.set(told, for: digest)
    }

    /// The dataset was deleted or merged into: its counts say nothing any more.
    mutating func forget(_ key: DatasetKey, at now: WallTime) {
        let index = Self.index(of: key.digest)
        deletedMilliseconds[index] = max(deletedMilliseconds[index], now.milliseconds)
    }

    /// Whether another event has told a device of a count that is not older.
    ///
    /// - Parameters:
    ///   - announcement: the announcement of an event.
    ///   - deviceID: the device that it would be said to.
    /// - Returns: whether the announcement gains nothing.
    func isRedundant(_ announcement: DatasetAnnouncement, for deviceID: String) -> Bool {
        guard let told = entries[announcement.digest(for: deviceID)], told.event != announcement.event,
            told.syncCount >= announcement.syncCount,
            told.firstSeenMilliseconds > deletedMilliseconds[Self.index(of: announcement.dataset)]
        else { return false }
        return Self.applies(told, to: announcement)
    }

    private static func applies(_ told: Told, to announcement: DatasetAnnouncement) -> Bool {
        announcement.firstSeenMilliseconds - told.firstSeenMilliseconds <= validityMilliseconds
    }

    private static func index(of dataset: WordDigest) -> Int { Int(dataset.low % UInt64(deletionsCount)) }
}

/// Which datasets this process has told the registry about lately, so that it tells each but once.
///
/// When it is full it forgets old ones, which are then told again.
public struct RecordedDatasets: Sendable {
    private var known = DigestCache<Bool>(capacity: 32_768)

    /// Creates an empty memory.
    public init() {}

    /// Whether the registry has recorded this dataset.
    public func contains(_ key: DatasetKey) -> Bool { known[key.digest] != nil }

    /// The registry knows these datasets now.
    public mutating func insert(_ keys: [DatasetKey]) {
        for key in keys { known.set(true, for: key.digest) }
    }
}
