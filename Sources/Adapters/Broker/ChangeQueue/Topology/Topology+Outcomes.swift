import AMQP

/// The queues that outcomes go to.
extension Topology {
    /// Binds the queues of outcomes that are as they should be.
    func bindOutcomeQueues(_ findings: [TopologyFinding], _ session: AMQPSession) throws(AMQPError) {
        let usable = findings.filter(\.isGood).map(\.object)
        guard usable.contains(where: { $0.name == names.outcomes }) else { return }
        for object in usable {
            for binding in object.bindings where binding.exchange == names.outcomes {
                try session.bindQueue(object.name, exchange: binding.exchange, routingKey: binding.routingKey)
            }
        }
    }

    /// Finds the queues of webhooks that are not there; the role `webhooks` suffices.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: the names of the missing queues, in order; those that the user may not look at count as there.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func findMissingWebhooks(
        at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] {
        try await Self.findMissing(webhookQueues, at: configuration)
    }

    /// Finds out whether the queue of outcomes that are counted is missing; the role `outcomes` suffices.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: its name if it is missing; none as well if outcomes are not counted.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func findMissingAnalytics(
        at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] {
        try await Self.findMissing(analyticsQueues, at: configuration)
    }

    private static func findMissing(
        _ queues: [TopologyObject], at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] {
        try await configuration.withSession(purpose: "topology") { session in
            try queues.map(\.name).filter { name in try isMissing(name, session) }
        }
    }

    private static func isMissing(_ queue: String, _ session: AMQPSession) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            return try session.queueStatus(queue) == nil
        } catch {
            guard error.code == .refused, !session.isClosed else { throw error }
            return false
        }
    }
}
