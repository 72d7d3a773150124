import PushCore

/// Lets one event of a dataset be under way at a time, so that no older state is announced after a newer one.
///
/// APNs promises no order between two pushes that are out at once, so the second waits until the first has been
/// settled. What waits coalesces when its turn comes. Bounded by the prefetch, as everything that is unacknowledged.
struct DatasetTurns {
    /// Each dataset with an event under way, and what waits for it.
    private var waiting: [DatasetKey: [Delivery]] = [:]

    /// Whether an event of that dataset is under way.
    func isBusy(_ key: DatasetKey) -> Bool { waiting[key] != nil }

    /// The delivery waits for its turn.
    mutating func wait(_ delivery: Delivery, for key: DatasetKey) { waiting[key, default: []].append(delivery) }

    /// An event of the dataset is under way from now on.
    mutating func begin(_ key: DatasetKey) {
        if waiting[key] == nil { waiting[key] = [] }
    }

    /// The event that was under way has been settled; gives those whose turn has come.
    mutating func end(_ key: DatasetKey) -> [Delivery] { waiting.removeValue(forKey: key) ?? [] }

    /// What waits goes back to the broker; what is under way stays so.
    mutating func forgetWaiting() {
        for key in waiting.keys { waiting[key] = [] }
    }
}
