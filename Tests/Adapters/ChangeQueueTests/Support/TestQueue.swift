import ChangeQueue
import Metrics
import Notifications
import PushCore
import PushTestKit
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
}
