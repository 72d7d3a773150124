import ChangeEvents
import Essentials
import Notifications

/// Lets one event of a dataset be under way at a time, so that no older state is announced after a newer one.
///
/// APNs promises no order between two pushes that are out at once, so the second waits until the first has been
/// settled. Waiting events coalesce when the dataset is free. Bounded by the prefetch, as everything that is
/// unacknowledged.
///
/// A delivery waits only for an event that is under way, because only the end of an event releases waiting deliveries.
struct DatasetSerializer: Sendable {
    /// The decision about an event.
    enum Admission {
        /// It is the one that is under way from now on, until `end`.
        case begins
        /// It coalesces with the event under way, which is of the same batch.
        case joins
        /// It waits for the event under way.
        case waits
    }

    private struct Dataset {
        /// Whether an event is under way.
        var isBusy = false
        /// The batch of the event under way, if the next event of that batch may coalesce with it.
        var openBatch: UInt64?
        var waiting: [Delivery] = []

        mutating func admit(_ delivery: Delivery, of batch: UInt64, coalesces: Bool) -> Admission {
            guard isBusy else {
                isBusy = true
                openBatch = coalesces ? batch : nil
                return .begins
            }
            if coalesces, openBatch == batch { return .joins }
            openBatch = nil
            waiting.append(delivery)
            return .waits
        }
    }

    /// The datasets with an event under way.
    private var datasets: [DatasetKey: Dataset] = [:]

    /// Whether an event of that dataset is under way.
    func isBusy(_ key: DatasetKey) -> Bool { datasets[key] != nil }

    /// Decides whether an event may begin.
    ///
    /// - Parameters:
    ///   - delivery: the event's delivery; kept if it waits.
    ///   - key: the event's dataset.
    ///   - batch: the number of the batch that is decoded.
    ///   - coalesces: whether the event is a fresh change, which one push can announce together with others.
    /// - Returns: the decision.
    mutating func admit(_ delivery: Delivery, for key: DatasetKey, of batch: UInt64, coalesces: Bool) -> Admission {
        datasets[key, default: Dataset()].admit(delivery, of: batch, coalesces: coalesces)
    }

    /// An event of the dataset is under way from now on, until `end`.
    mutating func begin(_ key: DatasetKey) {
        if datasets[key] == nil { datasets[key] = Dataset(isBusy: true) }
    }

    /// The event under way has been settled; returns the waiting events.
    mutating func end(_ key: DatasetKey) -> [Delivery] { datasets.removeValue(forKey: key)?.waiting ?? [] }

    /// Forgets the waiting deliveries, which the broker delivers again, except those to be kept.
    ///
    /// Events that are under way stay under way.
    mutating func forgetWaiting(except isKept: (Delivery) -> Bool = { _ in false }) {
        for key in datasets.keys { datasets[key]?.waiting.removeAll { !isKept($0) } }
    }
}

/// Finds, among events that wait together, those of one dataset that one push can stand for.
///
/// A dataset push says only "this dataset has changed, up to this sync count", so the newest one makes the older ones
/// redundant. A deletion or a merge is never left out, and separates earlier events from later ones, because sync
/// counts restart in a dataset that is created again.
struct DatasetCoalescer: Sendable {
    /// Events that one push stands for.
    struct Group: Hashable, Sendable {
        /// The index of the event with the newest sync count, the one that is pushed.
        var representative: Int
        /// The indices of the others.
        var superseded: [Int]
        /// The device to leave out: the one that made all of the changes; nil if there were several.
        var excludedDeviceID: String?

        /// Creates a group.
        init(representative: Int, superseded: [Int], excludedDeviceID: String?) {
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
    init() {}

    /// The groups so far, in the order of their first events.
    var result: [Group] { groups }

    /// Adds an event that may stand for others, or be stood for: a fresh `dataset.changed`.
    mutating func add(_ change: DatasetChange, at index: Int) {
        guard change.operation == .changed, let syncCount = change.syncCount else {
            open[change.key] = nil
            groups.append(Group(representative: index, superseded: [], excludedDeviceID: change.deviceID))
            return
        }
        guard let current = open[change.key] else {
            open[change.key] = Open(group: groups.count, syncCount: syncCount)
            groups.append(Group(representative: index, superseded: [], excludedDeviceID: change.deviceID))
            return
        }
        join(change, at: index, syncCount: syncCount, current)
    }

    private mutating func join(_ change: DatasetChange, at index: Int, syncCount: Int64, _ current: Open) {
        if !groups[current.group].excludedDeviceID.hasBytes(of: change.deviceID) {
            groups[current.group].excludedDeviceID = nil
        }
        if syncCount > current.syncCount {
            groups[current.group].superseded.append(groups[current.group].representative)
            groups[current.group].representative = index
            open[change.key]?.syncCount = syncCount
        } else {
            groups[current.group].superseded.append(index)
        }
    }

    /// Adds an event that stands by itself.
    mutating func addAlone(at index: Int) {
        groups.append(Group(representative: index, superseded: [], excludedDeviceID: nil))
    }
}
