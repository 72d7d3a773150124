import PushCore

/// Deliveries of the bulk lane that wait, in the order in which a page of each is served; never more than the prefetch.
///
/// Apps take turns, a page each. The chunks of one app are served one after the other: the next page of a chunk comes
/// before the chunks that have not begun, because a crash repeats whatever has begun and not ended.
struct FanOutLine {
    private struct Flow {
        let name: String
        var deliveries: [Delivery]
    }

    private var flows: [Flow] = []

    /// Whether none waits.
    var isEmpty: Bool { flows.isEmpty }

    /// Puts a delivery at the end of its flow.
    ///
    /// - Parameters:
    ///   - delivery: the delivery.
    ///   - name: what it takes turns as.
    mutating func append(_ delivery: Delivery, flow name: String) {
        if let place = place(of: name) {
            flows[place].deliveries.append(delivery)
        } else {
            flows.append(Flow(name: name, deliveries: [delivery]))
        }
    }

    /// Puts a delivery that has more pages, or could not be begun, before the others of its flow.
    mutating func putInFront(_ delivery: Delivery, flow name: String) {
        if let place = place(of: name) {
            flows[place].deliveries.insert(delivery, at: 0)
        } else {
            flows.append(Flow(name: name, deliveries: [delivery]))
        }
    }

    /// Takes out what is served next, after which it is another flow's turn.
    ///
    /// - Parameter mayBeServed: whether the first delivery of a flow may go on now; if not, its flow is passed over.
    /// - Returns: the delivery; nil if none may be served.
    mutating func takeFirst(where mayBeServed: (Delivery, _ flow: String) -> Bool) -> Delivery? {
        for place in flows.indices where mayBeServed(flows[place].deliveries[0], flows[place].name) {
            var flow = flows.remove(at: place)
            let delivery = flow.deliveries.removeFirst()
            if !flow.deliveries.isEmpty { flows.append(flow) }
            return delivery
        }
        return nil
    }

    mutating func removeAll(where condition: (Delivery) -> Bool) {
        for place in flows.indices { flows[place].deliveries.removeAll(where: condition) }
        flows.removeAll { $0.deliveries.isEmpty }
    }

    /// Takes deliveries out of a flow.
    ///
    /// - Parameters:
    ///   - name: the flow.
    ///   - condition: which of its deliveries.
    /// - Returns: the deliveries, in order.
    mutating func removeAll(flow name: String, where condition: (Delivery) -> Bool) -> [Delivery] {
        guard let place = place(of: name) else { return [] }
        let removed = flows[place].deliveries.filter(condition)
        flows[place].deliveries.removeAll(where: condition)
        if flows[place].deliveries.isEmpty { flows.remove(at: place) }
        return removed
    }

    private func place(of name: String) -> Int? { flows.firstIndex { $0.name == name } }
}
