/// Deliveries that were received and not begun, in order; never more than the prefetch.
struct DeliveryQueue: Sendable {
    private var deliveries: [Delivery] = []
    private var front = 0

    mutating func append(_ more: [Delivery]) {
        if front == deliveries.count, !deliveries.isEmpty { removeAll() }
        deliveries.append(contentsOf: more)
    }

    mutating func takeFirst(_ maximum: Int) -> [Delivery] {
        if front == 0, deliveries.count <= maximum {
            defer { deliveries = [] }
            return deliveries
        }
        let end = min(deliveries.count, front + maximum)
        defer {
            front = end
            if front == deliveries.count { removeAll() }
        }
        return Array(deliveries[front..<end])
    }

    /// Puts a batch back that could not be begun.
    mutating func putBack(_ batch: [Delivery]) {
        deliveries = batch + deliveries[front...]
        front = 0
    }

    /// Whether none waits.
    var isEmpty: Bool { front == deliveries.count }

    mutating func removeAll(where condition: (Delivery) -> Bool) {
        deliveries = deliveries[front...].filter { !condition($0) }
        front = 0
    }

    mutating func removeAll() {
        deliveries.removeAll(keepingCapacity: true)
        front = 0
    }

    mutating func removeAll(before epoch: UInt32) {
        deliveries = deliveries[front...].filter { $0.tag.epoch >= epoch }
        front = 0
    }
}
