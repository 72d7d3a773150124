import Notifications

/// Lets one event of a dataset be under way at a time, so that no older state is announced after a newer one.
///
/// APNs promises no order between two pushes that are out at once, so the second waits until the first has been
/// settled. What waits coalesces when its turn comes. Bounded by the prefetch, as everything that is unacknowledged.
///
/// A delivery waits only for an event that is under way. `wait` takes no other delivery, because only the end of an
/// event lets waiting deliveries go.
struct DatasetSerializer: Sendable {
    /// Each dataset with an event under way, and what waits for it.
    private var waiting: [DatasetKey: [Delivery]] = [:]

    /// Whether an event of that dataset is under way.
    func isBusy(_ key: DatasetKey) -> Bool { waiting[key] != nil }

    /// The delivery waits for its turn, if an event of the dataset is under way.
    ///
    /// - Returns: whether it waits; if not, its turn has come.
    mutating func wait(_ delivery: Delivery, for key: DatasetKey) -> Bool {
        guard waiting[key]?.append(delivery) != nil else { return false }
        return true
    }

    /// An event of the dataset is under way from now on, until `end`.
    mutating func begin(_ key: DatasetKey) {
        if waiting[key] == nil { waiting[key] = [] }
    }

    /// The event that was under way has been settled; gives those whose turn has come.
    mutating func end(_ key: DatasetKey) -> [Delivery] { waiting.removeValue(forKey: key) ?? [] }

    /// Forgets the waiting deliveries, which the broker delivers again, except those to be kept.
    ///
    /// Events that are under way stay under way.
    mutating func forgetWaiting(except isKept: (Delivery) -> Bool = { _ in false }) {
        for key in waiting.keys { waiting[key]?.removeAll { !isKept($0) } }
    }
}
