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

    /// Whether a queue is there; one that the user may not look at counts as there.
    ///
    /// - Parameters:
    ///   - queue: its name.
    ///   - configuration: where the broker is; its namespace does not matter.
    /// - Returns: whether it is there.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func isThere(
        _ queue: String, at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> Bool {
        try await configuration.withSession(purpose: "topology") { session in
            do throws(AMQPError) {
                return try session.queueStatus(queue) != nil
            } catch {
                guard error.code == .refused, !session.isClosed else { throw error }
                return true
            }
        }
    }
}
