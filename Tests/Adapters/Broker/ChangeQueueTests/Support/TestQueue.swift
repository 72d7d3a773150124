import AMQP
import ChangeEvents
import ChangeQueue
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import StructuredLogging
import Testing

/// One namespace of a private broker, with its topology, and what connects to it.
struct TestQueue {
    let broker: PrivateRabbitMQ
    var configuration: BrokerConfiguration
    var topology: Topology
    let metrics = MetricsRegistry()

    var names: QueueNames { configuration.names }

    /// A fresh namespace, on the shared broker unless another is given.
    static func make(
        broker: PrivateRabbitMQ? = nil, prefetch: UInt16 = 1_000, retryDelaysMilliseconds: [Int64] = [],
        workQueueCount: Int = 1, isApplied: Bool = true
    ) async throws -> TestQueue {
        let running = if let broker { broker } else { try await PrivateRabbitMQ.shared() }
        let namespace = PrivateRabbitMQ.makeNamespace()
        var configuration = try BrokerConfiguration(
            urls: [running.url], namespace: namespace, prefetch: prefetch,
            workQueueCount: workQueueCount)
        configuration.reconnectBaseSeconds = 0.1
        configuration.reconnectMaximumSeconds = 0.5
        let topology = Topology(
            namespace: namespace, retryDelaysMilliseconds: retryDelaysMilliseconds, workQueueCount: workQueueCount)
        let queue = TestQueue(broker: running, configuration: configuration, topology: topology)
        if isApplied { _ = try await topology.apply(to: configuration) }
        return queue
    }

    /// The same namespace, as a configuration with another number of work queues sees it.
    func with(workQueueCount: Int) -> TestQueue {
        var other = self
        other.configuration.workQueueCount = workQueueCount
        other.topology = Topology(
            namespace: names.namespace, retryDelaysMilliseconds: topology.retryDelaysMilliseconds,
            workQueueCount: workQueueCount)
        return other
    }

    func makeConsumer() throws -> ChangeConsumer {
        try ChangeConsumer(configuration: configuration, logger: .silent, metrics: metrics)
    }

    func makePublisher() throws -> ConfirmedPublisher {
        try ConfirmedPublisher(configuration: configuration, logger: .silent, metrics: metrics)
    }

    /// Messages to the work queues, numbered from a first identifier, each with its number as message id and as
    /// subject.
    func messages(_ identifiers: Range<UInt64>, body: [UInt8] = Array("{}".utf8)) -> [OutgoingMessage] {
        identifiers.map { identifier in
            var message = Message(body: body)
            message.properties.messageID = "\(identifier)"
            return OutgoingMessage(
                identifier: identifier, exchange: names.changes, routingKey: "test.\(identifier)", message: message)
        }
    }

    /// Publishes and waits for the outcomes.
    func publish(_ messages: [OutgoingMessage]) async throws -> [UInt64: PublishOutcome] {
        let publisher = try makePublisher()
        let log = OutcomeLog()
        publisher.start(handler: log)
        publisher.publish(messages)
        _ = await publisher.close(deadlineSeconds: 60)
        return log.state.value.outcomes
    }

    /// Publishes, and again what was not confirmed: right after its start a broker refuses what a queue without a
    /// leader should take, and a busy one lets the publisher's deadline pass.
    func publishUntilConfirmed(_ messages: [OutgoingMessage], deadlineSeconds: Double = 180) async throws {
        let deadline = ContinuousClock.now + .seconds(deadlineSeconds)
        var open = messages
        while !open.isEmpty {
            let outcomes = try await publish(open)
            open.removeAll { outcomes[$0.identifier] == .confirmed }
            let examples = open.prefix(3).map { "\($0.identifier): \(String(describing: outcomes[$0.identifier]))" }
            try #require(open.isEmpty || ContinuousClock.now < deadline, "\(open.count) not confirmed, \(examples)")
        }
    }

    /// Puts messages among the dead letters, as the worker requeues them.
    func bury(_ identifiers: Range<UInt64>, reason: String) async throws {
        let messages = identifiers.map { identifier in
            var message = Message(body: Array("body \(identifier)".utf8))
            message.properties.messageID = "\(identifier)"
            message.headers = [
                MessageHeader("mine", .string("kept")),
                MessageHeader(RetryHeader.reason, .string(reason)),
                MessageHeader(RetryHeader.detail, .string("because")),
                MessageHeader(RetryHeader.attempt, .int64(10)),
                MessageHeader(RetryHeader.firstSeenMilliseconds, .int64(1_700_000_000_000)),
                MessageHeader(RetryHeader.devices, .array([.string("device")])),
            ]
            return OutgoingMessage(
                identifier: identifier, exchange: "", routingKey: names.deadLetter, message: message)
        }
        let outcomes = try await publish(messages)
        try #require(outcomes.values.count { $0 == .confirmed } == messages.count)
    }

    /// The tool, with a registry in a folder.
    func deadLetters(
        in folder: TemporaryFolder, progress: @escaping @Sendable (DeadLetterTally) -> Void = { _ in }
    ) -> DeadLetters {
        let path = folder.path + "/registry.db"
        return DeadLetters(
            configuration: configuration,
            openRegistry: { () throws(RegistryError) in try SQLiteRegistry.open(path: path, mode: .create) },
            progress: progress)
    }

    /// Deletes the queues, so that those of many tests do not pile up.
    func remove() async throws {
        let names = topology.objects.filter { $0.kind == .quorumQueue }.map(\.name)
        let list = names.map { "<<\"\($0)\">>" }.joined(separator: ",")
        try await broker.evaluate(
            """
            [begin {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, N)),
            rabbit_amqqueue:delete(Q, false, false, <<"tests">>) end || N <- [\(list)]], ok.
            """)
    }
}

/// The broker that fault tests stop, flood and kill; they run one after the other.
enum FaultBroker {
    private static let node = Task { try await PrivateRabbitMQ.start() }

    static func shared() async throws -> PrivateRabbitMQ { try await node.value }
}

extension PublishOutcome {
    /// Whether no queue took the message.
    var isReturned: Bool { if case .returned = self { true } else { false } }
}
