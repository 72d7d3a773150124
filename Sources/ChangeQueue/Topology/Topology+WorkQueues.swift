import AMQP

/// How events come into the work queues, and how their number changes.
extension Topology {
    /// Leads the events to the work queues, where all that this takes is as it should be.
    ///
    /// - Parameters:
    ///   - findings: what became of each object.
    ///   - session: where to.
    /// - Returns: the findings, with `unconsumed` for a work queue that got no share.
    /// - Throws: `AMQPError` if the broker refuses.
    func route(_ findings: [TopologyFinding], _ session: AMQPSession) throws(AMQPError) -> [TopologyFinding] {
        let usable = Set(findings.filter(\.isGood).map(\.object.name))
        guard usable.contains(names.changes), usable.contains(names.work) else { return findings }
        guard workQueueCount > 1 else {
            try takeSurplusOutOfUse(session)
            try session.bindQueue(names.work, exchange: names.changes, routingKey: allChanges.routingKey)
            try session.unbindExchange(names.workHash, source: names.changes, routingKey: allChanges.routingKey)
            return findings
        }
        guard usable.contains(names.workHash) else { return findings }
        try session.bindQueue(names.work, exchange: names.workHash, routingKey: hashShare.routingKey)
        try session.bindExchange(names.workHash, source: names.changes, routingKey: allChanges.routingKey)
        try session.unbindQueue(names.work, exchange: names.changes, routingKey: allChanges.routingKey)
        let isIdle = try session.declareQueue(names.work, isPassive: true).consumerCount == 0
        var unconsumed: Set<String> = []
        for number in 2...workQueueCount where usable.contains(names.work(number)) {
            let name = names.work(number)
            let consumerCount = try session.declareQueue(name, isPassive: true).consumerCount
            if isIdle || consumerCount > 0 {
                try session.bindQueue(name, exchange: names.workHash, routingKey: hashShare.routingKey)
            } else {
                unconsumed.insert(name)
            }
        }
        try takeSurplusOutOfUse(session)
        return findings.map {
            unconsumed.contains($0.object.name) ? TopologyFinding(object: $0.object, status: .unconsumed) : $0
        }
    }

    /// Leads the events of the queues that are too many to the others, the highest first.
    private func takeSurplusOutOfUse(_ session: AMQPSession) throws(AMQPError) {
        for (number, _) in try session.surplusWorkQueues(names, beyond: workQueueCount).reversed() {
            try session.unbindQueue(
                names.work(number), exchange: names.workHash, routingKey: hashShare.routingKey)
        }
    }

    // MARK: Queues that are too many

    /// A finding for each work queue that is too many.
    func surplus(_ session: AMQPSession) throws(AMQPError) -> [TopologyFinding] {
        try session.surplusWorkQueues(names, beyond: workQueueCount).map { number, status in
            TopologyFinding(
                object: workQueue(number),
                status: .surplus(messageCount: status.messageCount, consumerCount: status.consumerCount))
        }
    }

    /// Deletes the work queues that `apply` has taken out of use, the highest first, each when it is empty and nobody
    /// consumes it; waits for that.
    ///
    /// RabbitMQ 3.10 has no `if-empty` for quorum queues. What makes this safe: nothing leads there any more, what a
    /// worker holds unacknowledged counts as a consumer until it is settled, and an empty queue has to be found empty
    /// twice, the second time at least a second after it was taken out of use.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is; its namespace does not matter.
    ///   - waitingSeconds: how long to wait for the workers.
    /// - Returns: a finding for each queue that was too many: `deleted`, or `surplus` if it is still in use.
    /// - Throws: `ChangeQueueError` if the broker cannot be used; safe to repeat.
    public func deleteSurplus(
        of configuration: BrokerConfiguration, waitingSeconds: Double
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        let deadline = ContinuousClock.now + .seconds(waitingSeconds)
        var deleted: [TopologyFinding] = []
        var emptyBefore: Set<String> = []
        while true {
            let known = emptyBefore
            let (gone, left) = try await configuration.withSession(purpose: "topology") { session in
                try deleteEmpty(knownToBeEmpty: known, session)
            }
            deleted = gone + deleted
            emptyBefore = Set(left.filter { Self.isUnused($0.status) }.map(\.object.name))
            guard !left.isEmpty, ContinuousClock.now < deadline else { return left + deleted }
            // A caller that was cancelled gets what is known so far.
            do { try await Task.sleep(for: .seconds(1)) } catch { return left + deleted }
        }
    }

    private func deleteEmpty(
        knownToBeEmpty: Set<String>, _ session: AMQPSession
    ) throws(AMQPError) -> (deleted: [TopologyFinding], left: [TopologyFinding]) {
        var left = try surplus(session)
        var deleted: [TopologyFinding] = []
        while let last = left.last, Self.isUnused(last.status), knownToBeEmpty.contains(last.object.name) {
            try session.deleteQueue(last.object.name)
            deleted.insert(TopologyFinding(object: last.object, status: .deleted), at: 0)
            left.removeLast()
        }
        if left.isEmpty, workQueueCount == 1 { try session.deleteExchange(names.workHash) }
        return (deleted, left)
    }

    private static func isUnused(_ status: TopologyFinding.Status) -> Bool {
        status == .surplus(messageCount: 0, consumerCount: 0)
    }
}
