import AMQP

/// How events come into the work queues, and how their number changes.
extension Topology {
    /// Leads the events to the work queues, where all that this takes is as it should be.
    ///
    /// - Parameters:
    ///   - findings: the result for each object.
    ///   - session: where to.
    /// - Returns: the findings, with `unconsumed` for a work queue that got no share.
    /// - Throws: `AMQPError` if the broker refuses.
    func route(_ findings: [TopologyFinding], _ session: AMQPSession) throws(AMQPError) -> [TopologyFinding] {
        let usable = Set(findings.filter(\.isGood).map(\.object.name))
        guard usable.contains(names.changes), usable.contains(names.work) else { return findings }
        guard workQueueCount > 1 else {
            try takeRetiredOutOfUse(session)
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
        try takeRetiredOutOfUse(session)
        return findings.map {
            unconsumed.contains($0.object.name) ? TopologyFinding(object: $0.object, status: .unconsumed) : $0
        }
    }

    /// Leads the events of the queues that are too many to the others, the highest first.
    private func takeRetiredOutOfUse(_ session: AMQPSession) throws(AMQPError) {
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

    /// How long a queue that is to be deleted may take for an answer, in seconds.
    private static let proofPatienceSeconds = 10

    /// Waits until the work queues that `apply` retired are empty and without consumers, and deletes them, the highest
    /// first.
    ///
    /// No version of RabbitMQ has `if-empty` for quorum queues, and each deletes a queue without a leader by force.
    /// Three facts make this safe: nothing is routed to the queue any more; it reports that it is empty at least a
    /// second after it was retired; and `AMQPSession.provesEmpty` proves it, because a passive declare reports the same
    /// while a leader is silent.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is.
    ///   - waitingSeconds: how long to wait for the workers.
    /// - Returns: a finding for each surplus queue: `deleted`; `surplus` if it is still in use; `unproven` if it
    ///   reports that it is not, without proof.
    /// - Throws: `ChangeQueueError` if the broker cannot be used; safe to repeat.
    public func deleteRetired(
        of configuration: BrokerConfiguration, waitingSeconds: Double
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        let deadline = ContinuousClock.now + .seconds(waitingSeconds)
        var deleted: [TopologyFinding] = []
        var emptyBefore: Set<String> = []
        while true {
            var left = try await configuration.withSession(purpose: "topology") { try surplus($0) }
            while let last = left.last, Self.seemsUnused(last), emptyBefore.contains(last.object.name) {
                let status = await Self.delete(last.object.name, of: configuration)
                left.removeLast()
                let finding = TopologyFinding(object: last.object, status: status)
                guard status == .deleted else {
                    left.append(finding)
                    break
                }
                deleted.insert(finding, at: 0)
            }
            if left.isEmpty, workQueueCount == 1 {
                try await configuration.withSession(purpose: "topology") { try $0.deleteExchange(names.workHash) }
            }
            emptyBefore.formUnion(left.filter(Self.seemsUnused).map(\.object.name))
            guard !left.isEmpty, ContinuousClock.now < deadline else { return left + deleted }
            // A cancelled caller gets the findings so far.
            do { try await Task.sleep(for: .seconds(1)) } catch { return left + deleted }
        }
    }

    /// Deletes a queue if it can be proven to be empty and unused, by a session of its own.
    static func delete(_ queue: String, of configuration: BrokerConfiguration) async -> TopologyFinding.Status {
        do throws(ChangeQueueError) {
            return try await configuration.withSession(
                purpose: "topology", patienceSeconds: proofPatienceSeconds
            ) { session in
                guard try session.provesEmpty(queue) else { return .unproven("it did not count a consumer of ours") }
                try session.deleteQueue(queue)
                return .deleted
            }
        } catch { return .unproven(error.message) }
    }

    private static func seemsUnused(_ finding: TopologyFinding) -> Bool {
        finding.status == .surplus(messageCount: 0, consumerCount: 0)
    }
}
