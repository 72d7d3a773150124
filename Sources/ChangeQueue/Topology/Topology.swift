import AMQP
import PushCore

/// The exchanges and queues of one namespace: what they are, and how the broker's compare with them.
///
/// All queues are quorum queues: replicated, with a time to live per queue and dead-lettering that loses nothing, which
/// in
/// turn asks for `reject-publish` as the behaviour at a full queue. The retry queues have one delay each, because a
/// message expires only at the head of its queue: different delays in one queue would wait for each other.
public struct Topology: Hashable, Sendable {
    /// How often a message may come back unacknowledged before the broker gives up on it.
    ///
    /// Every return counts, also that of a whole prefetch window when a worker dies, so this is generous.
    private static let deliveryLimit: Int64 = 20
    /// The same for dead letters, which come back each time that someone looks at them.
    ///
    /// In effect none; but with one set the broker puts them back where they were rather than at the end, and later
    /// versions of RabbitMQ set 20 where none is given.
    private static let deadLetterDeliveryLimit: Int64 = 1_000_000_000

    /// The names.
    public let names: QueueNames
    /// The delays of the retry queues, in milliseconds, ascending and without duplicates.
    public let retryDelaysMilliseconds: [Int64]

    /// Describes a namespace.
    ///
    /// - Parameters:
    ///   - namespace: how all names begin.
    ///   - retryDelaysMilliseconds: one retry queue each; those that are not positive are left out.
    public init(namespace: String, retryDelaysMilliseconds: [Int64]) {
        names = QueueNames(namespace: namespace)
        self.retryDelaysMilliseconds = Set(retryDelaysMilliseconds).filter { $0 > 0 }.sorted()
    }

    /// All exchanges and queues, in the order in which they can be made.
    public var objects: [TopologyObject] {
        let exchanges = [
            TopologyObject(
                kind: .topicExchange, name: names.changes, purpose: "backends publish here; the routing key is free",
                arguments: [], bindings: []),
            TopologyObject(
                kind: .topicExchange, name: names.outcomes, purpose: "what became of each push, if turned on",
                arguments: [], bindings: []),
        ]
        let queues = [
            queue(
                names.deadLetter, "what needs a person; nobody consumes it",
                [MessageHeader(name: "x-delivery-limit", value: .int64(Self.deadLetterDeliveryLimit))]),
            queue(
                names.work, "what workers consume",
                Self.deadLettering(to: names.deadLetter)
                    + [MessageHeader(name: "x-delivery-limit", value: .int64(Self.deliveryLimit))],
                bindings: [TopologyObject.Binding(exchange: names.changes, routingKey: "#")]),
            queue(
                names.fanout, "the continuations of large fan-outs",
                Self.deadLettering(to: names.deadLetter)
                    + [MessageHeader(name: "x-delivery-limit", value: .int64(Self.deliveryLimit))]),
        ]
        let retries = retryDelaysMilliseconds.map { delay in
            queue(
                names.retry(delayMilliseconds: delay), "waits \(delay) ms, then goes back to \(names.work)",
                Self.deadLettering(to: names.work) + [MessageHeader(name: "x-message-ttl", value: .int64(delay))])
        }
        return exchanges + queues + retries
    }

    private func queue(
        _ name: String, _ purpose: String, _ arguments: [MessageHeader], bindings: [TopologyObject.Binding] = []
    ) -> TopologyObject {
        let type = MessageHeader(name: "x-queue-type", value: .string("quorum"))
        return TopologyObject(
            kind: .quorumQueue, name: name, purpose: purpose, arguments: [type] + arguments, bindings: bindings)
    }

    /// Through the default exchange, which routes by queue name; at least once, for which the queue must reject
    /// publishes
    /// rather than drop messages when it is full.
    private static func deadLettering(to queue: String) -> [MessageHeader] {
        [
            MessageHeader(name: "x-dead-letter-exchange", value: .string("")),
            MessageHeader(name: "x-dead-letter-routing-key", value: .string(queue)),
            MessageHeader(name: "x-dead-letter-strategy", value: .string("at-least-once")),
            MessageHeader(name: "x-overflow", value: .string("reject-publish")),
        ]
    }

    // MARK: The broker's

    /// Makes what is missing and changes nothing that is there.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: one finding for each object, in order.
    /// - Throws: `ChangeQueueError` if the broker cannot be used; then some objects may have been made.
    public func apply(
        to configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        try await configuration.withSession(purpose: "topology") { session in
            try objects.map { TopologyFinding(object: $0, status: try Self.make($0, session)) }
        }
    }

    /// Compares without making anything.
    ///
    /// Whether a queue is bound cannot be asked of AMQP; `apply` binds again what is bound already.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: one finding for each object, in order.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func check(
        _ configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        try await configuration.withSession(purpose: "topology") { session in
            try objects.map { TopologyFinding(object: $0, status: try Self.compare($0, session)) }
        }
    }

    private static func make(
        _ object: TopologyObject, _ session: AMQPSession
    ) throws(AMQPError) -> TopologyFinding.Status {
        var status = try compare(object, session)
        if status == .missing {
            try declare(object, session)
            status = .created
        }
        guard status == .present || status == .created else { return status }
        for binding in object.bindings {
            try session.bindQueue(object.name, exchange: binding.exchange, routingKey: binding.routingKey)
        }
        return status
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
            case .missing: return .missing
            case .different: return difference(error.message)
            case .refused: return .unknown(error.message)
            default: throw error
            }
        }
    }

    private static func declare(
        _ object: TopologyObject, _ session: AMQPSession, isPassive: Bool = false
    ) throws(AMQPError) {
        switch object.kind {
        case .topicExchange: try session.declareExchange(object.name, type: "topic", isPassive: isPassive)
        case .quorumQueue:
            try session.declareQueue(
                object.name, arguments: object.arguments.map { AMQPHeader($0) }, isPassive: isPassive)
        }
    }

    /// RabbitMQ says: inequivalent arg 'x-message-ttl' for queue 'apus.retry.1s' in vhost '/': received '1000' but
    /// current
    /// is '2000'.
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
