import ChangeQueue
import Metrics
import PushCore
import PushTestKit

/// One namespace of a private broker, with its topology, and what connects to it.
struct TestQueue {
    let broker: PrivateRabbitMQ
    var configuration: BrokerConfiguration
    let topology: Topology
    let metrics = MetricsRegistry()

    var names: QueueNames { configuration.names }

    /// A fresh namespace, on the shared broker unless another is given.
    static func make(
        broker: PrivateRabbitMQ? = nil, prefetch: UInt16 = 1_000, retryDelaysMilliseconds: [Int64] = [],
        isApplied: Bool = true
    ) async throws -> TestQueue {
        let running = if let broker { broker } else { try await PrivateRabbitMQ.shared() }
        let namespace = PrivateRabbitMQ.makeNamespace()
        var configuration = try BrokerConfiguration(urls: [running.url], namespace: namespace, prefetch: prefetch)
        configuration.reconnectBaseSeconds = 0.1
        configuration.reconnectMaximumSeconds = 0.5
        let topology = Topology(namespace: namespace, retryDelaysMilliseconds: retryDelaysMilliseconds)
        let queue = TestQueue(broker: running, configuration: configuration, topology: topology)
        if isApplied { _ = try await topology.apply(to: configuration) }
        return queue
    }

    func makeConsumer() throws -> ChangeConsumer {
        try ChangeConsumer(configuration: configuration, logger: .silent, metrics: metrics)
    }

    func makePublisher() throws -> ConfirmedPublisher {
        try ConfirmedPublisher(configuration: configuration, logger: .silent, metrics: metrics)
    }

    /// Messages to the work queue, numbered from a first identifier, each with its number as message id.
    func messages(_ identifiers: Range<UInt64>, body: [UInt8] = Array("{}".utf8)) -> [OutgoingMessage] {
        identifiers.map { identifier in
            var message = Message(body: body)
            message.properties.messageID = "\(identifier)"
            return OutgoingMessage(
                identifier: identifier, exchange: names.changes, routingKey: "test", message: message)
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
}
