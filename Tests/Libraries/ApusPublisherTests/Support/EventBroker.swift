import ApusPublisher
import ChangeEvents
import ChangeQueue
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

/// A namespace of a private broker, as a program that publishes sees it, and as a worker does.
struct EventBroker {
    let broker: PrivateRabbitMQ
    let names: QueueNames
    /// For publishers; a test may change it.
    var configuration: PublisherConfiguration
    private let worker: BrokerConfiguration

    /// A fresh namespace, on the shared broker unless another is given.
    init(_ own: PrivateRabbitMQ? = nil, isApplied: Bool = true) async throws {
        broker = if let own { own } else { try await PrivateRabbitMQ.shared() }
        names = QueueNames(namespace: PrivateRabbitMQ.makeNamespace())
        configuration = PublisherConfiguration(url: broker.url)
        configuration.namespace = names.namespace
        configuration.timeout = .seconds(120)
        worker = try BrokerConfiguration(urls: [broker.url], namespace: names.namespace)
        if isApplied { try await apply() }
    }

    /// Makes exchanges and queues, as `apus topology apply` does.
    func apply() async throws {
        _ = try await Topology(namespace: names.namespace, retryDelaysMilliseconds: [], workQueueCount: 1).apply(
            to: worker)
    }

    /// Lets the work queue hold one message, and refuse more.
    func setFull(_ isFull: Bool) async throws {
        guard isFull else {
            try await broker.control("clear_policy", names.namespace)
            return
        }
        try await broker.control(
            "set_policy", names.namespace, "^\(names.namespace)[.]work$",
            #"{"max-length":1,"overflow":"reject-publish"}"#, "--apply-to", "queues")
    }

    /// How many messages wait for the worker.
    func messageCount() async throws -> Int { try await broker.messageCount(queue: names.work) }

    /// Takes the messages of the work queue.
    ///
    /// - Parameter count: how many messages there are.
    /// - Returns: the messages, in the order of the queue.
    /// - Throws: `EventLoopError` if there is no thread.
    func takeAll(_ count: Int) async throws -> [Delivery] {
        let consumer = try ChangeConsumer(configuration: worker, logger: .silent, metrics: MetricsRegistry())
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.deliveries.wait { $0.count >= count })
        let deliveries = log.deliveries.value
        consumer.settle(deliveries.map(\.tag))
        await consumer.cancel()
        await consumer.close()
        return deliveries
    }
}

/// The states of a publisher.
final class StateLog: Sendable {
    let states = Watched<[PublisherState]>([])

    var handler: @Sendable (PublisherState) -> Void { { state in self.states.update { $0.append(state) } } }

    /// Waits until events wait for a reason that has a text.
    func waitForObstacle(_ text: String) async -> Bool {
        await states.wait { states in
            states.contains { state in if case .waiting(let reason) = state { reason.contains(text) } else { false } }
        }
    }
}

private final class DeliveryLog: DeliveryHandler {
    let deliveries = Watched<[Delivery]>([])

    func deliveriesReceived(_ deliveries: [Delivery]) { self.deliveries.update { $0 += deliveries } }

    func sourceStateChanged(_ newState: DeliverySourceState) {}
}
