import PushCore

/// Lets one event of a dataset be under way at a time, so that no older state is announced after a newer one.
///
/// APNs promises no order between two pushes that are out at once, so the second waits until the first has been
/// settled. What waits coalesces when its turn comes. Bounded by the prefetch, as everything that is unacknowledged.
struct DatasetTurns {
    private var keyByTag: [DeliveryTag: DatasetKey] = [:]
    private var busy: Set<DatasetKey> = []
    private var waiting: [DatasetKey: [Delivery]] = [:]

    /// Whether an event of that dataset is under way.
    func isBusy(_ key: DatasetKey) -> Bool { busy.contains(key) }

    /// The delivery waits for its turn.
    mutating func wait(_ delivery: Delivery, for key: DatasetKey) { waiting[key, default: []].append(delivery) }

    /// The event of this delivery is under way from now on.
    mutating func begin(_ tag: DeliveryTag, _ key: DatasetKey) {
        keyByTag[tag] = key
        busy.insert(key)
    }

    /// A delivery was settled; gives those whose turn has come.
    mutating func settled(_ tag: DeliveryTag) -> [Delivery] {
        guard let key = keyByTag.removeValue(forKey: tag) else { return [] }
        busy.remove(key)
        return waiting.removeValue(forKey: key) ?? []
    }

    /// What waits goes back to the broker; what is under way stays so.
    mutating func forgetWaiting() { waiting.removeAll() }
}
