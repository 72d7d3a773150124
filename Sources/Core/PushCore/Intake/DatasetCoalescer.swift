import Essentials
public import Notifications

/// Finds, among events that wait together, those of one dataset that one push can stand for.
///
/// A dataset push says only "this dataset has changed, up to this sync count", so the newest one makes the older ones
/// redundant. A deletion or a merge is never left out, and separates what came before it from what comes after, because
/// sync counts begin anew in a dataset that is made again.
public struct DatasetCoalescer: Sendable {
    /// Events that one push stands for.
    public struct Group: Hashable, Sendable {
        /// The place of the event with the newest sync count, the one that is pushed.
        public var representative: Int
        /// The places of the others.
        public var superseded: [Int]
        /// The device to leave out: the one that made all of the changes, or nil if several did.
        public var excludedDeviceID: String?

        /// Creates a group.
        public init(representative: Int, superseded: [Int], excludedDeviceID: String?) {
            self.representative = representative
            self.superseded = superseded
            self.excludedDeviceID = excludedDeviceID
        }
    }

    private struct Open {
        var group: Int
        var syncCount: Int64
    }

    private var groups: [Group] = []
    private var open: [DatasetKey: Open] = [:]

    /// Creates a coalescer for one batch.
    public init() {}

    /// The groups so far, in the order of their first events.
    public var result: [Group] { groups }

    /// Adds an event that may stand for others, or be stood for: a fresh `dataset.changed`.
    public mutating func add(_ change: DatasetChange, at place: Int) {
        guard change.operation == .changed, let syncCount = change.syncCount else {
            open[change.key] = nil
            groups.append(Group(representative: place, superseded: [], excludedDeviceID: change.deviceID))
            return
        }
        guard let current = open[change.key] else {
            open[change.key] = Open(group: groups.count, syncCount: syncCount)
            groups.append(Group(representative: place, superseded: [], excludedDeviceID: change.deviceID))
            return
        }
        join(change, at: place, syncCount: syncCount, current)
    }

    private mutating func join(_ change: DatasetChange, at place: Int, syncCount: Int64, _ current: Open) {
        if !groups[current.group].excludedDeviceID.hasBytes(of: change.deviceID) {
            groups[current.group].excludedDeviceID = nil
        }
        if syncCount > current.syncCount {
            groups[current.group].superseded.append(groups[current.group].representative)
            groups[current.group].representative = place
            open[change.key]?.syncCount = syncCount
        } else {
            groups[current.group].superseded.append(place)
        }
    }

    /// Adds an event that stands by itself.
    public mutating func addAlone(at place: Int) {
        groups.append(Group(representative: place, superseded: [], excludedDeviceID: nil))
    }
}
