import AMQP

extension Topology {
    /// Creates missing objects and gives each work queue its share of the events; removes nothing that holds messages.
    ///
    /// The number of work queues may change under load: every step leaves each event exactly one way. From one queue to
    /// several, the hash exchange first gets the first queue, and the events; then that queue loses its own binding,
    /// and the others join. RabbitMQ puts a message into a queue once, however many ways lead there. Back, they leave
    /// in the opposite order, the highest first, and the first queue leaves the hash exchange as it came. A new queue
    /// gets no events before a worker consumes it, unless no queue is consumed at all. A queue too many gets none any
    /// more, is emptied by the workers, and is deleted by `deleteRetired(of:waitingSeconds:)`.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: one finding for each object, in order, and one for each work queue that is too many.
    /// - Throws: `ChangeQueueError` if the broker cannot be used; then some objects may have been made.
    public func apply(
        to configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        try await configuration.withSession(purpose: "topology") { session in
            let made = try objects.map { TopologyFinding(object: $0, status: try Self.make($0, session)) }
            try bindOutcomeQueues(made, session)
            return try route(made, session) + surplus(session)
        }
    }

    /// Compares without making anything.
    ///
    /// AMQP does not show bindings; `apply` repeats the existing ones.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: one finding for each object, in order, and one for each work queue that is too many.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func check(
        _ configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        try await configuration.withSession(purpose: "topology") { session in
            try objects.map { TopologyFinding(object: $0, status: try Self.compare($0, session)) } + surplus(session)
        }
    }

    /// Finds the objects that are not there; needs no permission to configure them, as `check` does.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: the missing objects, in order.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func findMissing(
        at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyObject] {
        try await configuration.withSession(purpose: "topology") { session in
            var missing: [TopologyObject] = []
            for object in objects where try !Self.isThere(object, session) { missing.append(object) }
            return missing
        }
    }

    private static func isThere(_ object: TopologyObject, _ session: AMQPSession) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            try declare(object, session, isPassive: true)
            return true
        } catch  where error.code == .missing && !session.isClosed {
            return false
        } catch  where error.code == .refused && !session.isClosed {
            // An object that this user may not look at is not known to be missing.
            return true
        }
    }

    private static func make(
        _ object: TopologyObject, _ session: AMQPSession
    ) throws(AMQPError) -> TopologyFinding.Status {
        let status = try compare(object, session)
        guard status == .missing else { return status }
        try declare(object, session)
        return .created
    }

    private static func compare(
        _ object: TopologyObject, _ session: AMQPSession
    ) throws(AMQPError) -> TopologyFinding.Status {
        do throws(AMQPError) {
            try declare(object, session, isPassive: true)
            // It is there, so declaring it in earnest makes nothing: the broker compares, and says what differs.
            try declare(object, session)
            return .present
        } catch {
            switch error.code {
            case .missing where !session.isClosed: return .missing
            case .different: return difference(error.message)
            case .refused where !session.isClosed: return .uncompared(error.message)
            default: throw error
            }
        }
    }

    private static func declare(
        _ object: TopologyObject, _ session: AMQPSession, isPassive: Bool = false
    ) throws(AMQPError) {
        switch object.kind {
        case .topicExchange: try session.declareExchange(object.name, type: "topic", isPassive: isPassive)
        case .hashExchange: try declareHashExchange(object.name, session, isPassive: isPassive)
        case .quorumQueue:
            try session.declareQueue(
                object.name, arguments: object.arguments, isPassive: isPassive)
        }
    }

    private static func declareHashExchange(
        _ name: String, _ session: AMQPSession, isPassive: Bool
    ) throws(AMQPError) {
        do throws(AMQPError) {
            try session.declareExchange(name, type: "x-consistent-hash", isPassive: isPassive)
        } catch {
            // RabbitMQ closes the connection over a type that it does not know.
            guard error.message.contains("exchange type") else { throw error }
            throw AMQPError(
                .missing,
                "work_queues above 1 needs the exchange type x-consistent-hash, which \(session.endpoint) does not "
                    + "know; run `rabbitmq-plugins enable rabbitmq_consistent_hash_exchange` on every node, "
                    + "or set rabbitmq.work_queues to 1")
        }
    }

    /// RabbitMQ says: inequivalent arg 'x-message-ttl' for queue 'apus.retry.1s' in vhost '/': received '1000' but
    /// current is '2000'.
    private static func difference(_ text: String) -> TopologyFinding.Status {
        let quoted = text.split(separator: "'", omittingEmptySubsequences: false)
        guard text.contains("inequivalent arg"), quoted.count >= 2 else { return .unknown(text) }
        func value(after marker: String) -> String? {
            guard let end = text.firstRange(of: marker)?.upperBound else { return nil }
            let rest = text[end...].drop { $0 == " " }
            guard rest.hasPrefix("'") else { return rest.hasPrefix("none") ? "not set" : nil }
            return String(rest.dropFirst().prefix { $0 != "'" })
        }
        let wanted = value(after: "received the value") ?? value(after: "received")
        let actual = value(after: "current is the value") ?? value(after: "current is")
        guard let wanted, let actual else { return .unknown(text) }
        return .different(argument: String(quoted[1]), actual: actual, wanted: wanted)
    }
}
