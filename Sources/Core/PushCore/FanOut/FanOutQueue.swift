/// The deliveries of the bulk lane that wait for a page, in the order in which their pages are served.
///
/// Flows take turns, a page each. Within a flow the first delivery is served until it has no page left, because a crash
/// repeats each chunk that has begun and not ended. The prefetch of the bulk lane, a few deliveries, bounds the queue.
struct FanOutQueue: Sendable {
    private struct Line: Sendable {
        let flow: FanOutFlow
        var deliveries: [FanOutDelivery]
    }

    /// The flows with a waiting delivery, the next turn first.
    private var lines: [Line] = []

    /// Whether no delivery waits.
    var isEmpty: Bool { lines.isEmpty }

    /// Puts a delivery at the end of its flow.
    mutating func append(_ delivery: FanOutDelivery) {
        if let index = index(of: delivery.flow) {
            lines[index].deliveries.append(delivery)
        } else {
            lines.append(Line(flow: delivery.flow, deliveries: [delivery]))
        }
    }

    /// Puts a delivery before the others of its flow: it has a further page, or its page could not be resolved.
    mutating func putInFront(_ delivery: FanOutDelivery) {
        if let index = index(of: delivery.flow) {
            lines[index].deliveries.insert(delivery, at: 0)
        } else {
            lines.append(Line(flow: delivery.flow, deliveries: [delivery]))
        }
    }

    /// The delivery whose page is next.
    ///
    /// - Parameter mayServe: whether the first delivery of a flow may be served now; if not, its flow is passed over.
    /// - Returns: the delivery; nil if none may be served.
    func first(where mayServe: (FanOutDelivery) -> Bool) -> FanOutDelivery? {
        lines.lazy.map { $0.deliveries[0] }.first(where: mayServe)
    }

    /// Takes out the first delivery of a flow; then it is another flow's turn.
    mutating func takeFirst(of flow: FanOutFlow) -> FanOutDelivery? {
        guard let index = index(of: flow) else { return nil }
        var line = lines.remove(at: index)
        let delivery = line.deliveries.removeFirst()
        if !line.deliveries.isEmpty { lines.append(line) }
        return delivery
    }

    /// Takes out the deliveries that meet a condition.
    ///
    /// - Returns: the deliveries, flow by flow, each flow in its order.
    mutating func removeAll(where isRemoved: (FanOutDelivery) -> Bool) -> [FanOutDelivery] {
        var removed: [FanOutDelivery] = []
        for index in lines.indices {
            removed += lines[index].deliveries.filter(isRemoved)
            lines[index].deliveries.removeAll(where: isRemoved)
        }
        lines.removeAll { $0.deliveries.isEmpty }
        return removed
    }

    private func index(of flow: FanOutFlow) -> Int? { lines.firstIndex { $0.flow == flow } }
}
