public import Essentials

/// Deliveries that leave the worker before they have been served to their end.
extension FanOutServing {
    // MARK: The connection

    /// The connection is lost, so the broker delivers again what is not settled.
    ///
    /// A chunk with a page left is forgotten, because it comes again from its beginning. A chunk whose last page has
    /// begun ends as usual, so that its ending is recorded before somebody serves it again.
    ///
    /// - Parameters:
    ///   - epoch: the first connection whose deliveries are good; without it, no delivery is.
    ///   - actions: takes what is to be done.
    public mutating func sourceLost(before epoch: UInt32 = .max, into actions: inout Actions) {
        firstGoodEpoch = epoch
        release(into: &actions) { $0.epoch < epoch }
        chunks = chunks.filter { $0.value.isRead || $0.key.epoch >= epoch }
    }

    /// The worker stops: what has not begun is dropped, and stays with the broker; a begun chunk is served to its end.
    public mutating func drain(into actions: inout Actions) {
        isDraining = true
        let begun = chunks
        release(into: &actions) { begun[$0] == nil }
    }

    /// Forgets deliveries that wait, or of which a page is asked for.
    private mutating func release(into actions: inout Actions, where isReleased: (DeliveryTag) -> Bool) {
        let abandoned = asked.map(\.tag).filter(isReleased)
        asked.removeAll { isReleased($0.tag) }
        actions.pagesAbandoned += abandoned
        actions.released += abandoned + queue.removeAll { isReleased($0.tag) }.map(\.tag)
    }

    // MARK: Flows that hang

    /// The flows with apps that have pages out, each with the start of the time in which a page was always out.
    ///
    /// Empty if nobody waits, or if only one app is configured: then there is nobody to make room for.
    public var flowsOut: [(flow: FanOutFlow, since: MonotonicTime)] {
        guard hasSeveralApps, isWaiting else { return [] }
        var flows: [(flow: FanOutFlow, since: MonotonicTime)] = []
        for chunk in chunks.values.sorted(by: { $0.order < $1.order })
        where chunk.pagesOut > 0 && !chunk.flow.apps.isEmpty {
            if let index = flows.firstIndex(where: { $0.flow == chunk.flow }) {
                flows[index].since = min(flows[index].since, chunk.outSince)
            } else {
                flows.append((chunk.flow, chunk.outSince))
            }
        }
        return flows
    }

    /// Flows hang: no push of them has been answered for some time.
    ///
    /// A worker holds few chunks. If all of them were of an app whose pushes hang, the fan-outs of other apps would
    /// stand behind them in the broker's queue. So the deliveries of such a flow that have not begun leave the worker.
    ///
    /// - Parameters:
    ///   - flows: those among `flowsOut` that hang; empty if none does.
    ///   - now: the time.
    ///   - actions: takes what is to be done.
    /// - Returns: the deliveries that have not begun, to be put into a retry queue. A delivery that cannot be put there
    ///   arrives again (`arrived`).
    public mutating func flowsHang(
        _ flows: [FanOutFlow], at now: MonotonicTime, into actions: inout Actions
    ) -> [FanOutDelivery] {
        guard hasSeveralApps, isWaiting else {
            lookAgainAt = nil
            return []
        }
        actions.notices += flows.filter { !hanging.contains($0) }.map { .flowHangs($0) }
        hanging = flows
        let begun = chunks
        let unbegun = flows.flatMap { flow in
            queue.removeAll { $0.flow == flow && begun[$0.tag] == nil }
        }
        if !isWaiting || chunks.isEmpty {
            lookAgainAt = nil
        } else if lookAgainAt.map({ $0 <= now }) ?? true {
            lookAgainAt = now.advanced(byMilliseconds: Self.lookDelayMilliseconds)
        }
        return unbegun
    }
}
