import AMQP
import ChangeEvents
import DispatchCore
import EventLoop
import Messages
import StructuredLogging

/// The part of the consumer of outcomes that lives on its loop.
final class OutcomeConsumerCore {
    /// How many outcomes wait in a temporary queue for a reader that is slow; then the oldest go.
    private static let temporaryMaximum: Int64 = 10_000
    /// From this prefetch on acknowledgements wait for each other.
    private static let prefetchForBatches: UInt16 = 200

    private let configuration: BrokerConfiguration
    private let queue: OutcomeQueue
    private let name: String
    private let loop: EventLoop
    private let logger: Logger
    private let metrics: ConnectionMetrics

    private var handler: (any DeliveryHandler)?
    private var attempts: ConnectionAttempts
    private var connection: AMQPConnection?
    private var epoch: UInt32 = 0
    private var frontier = AcknowledgementFrontier(batchSize: 1)
    private var acknowledgementTimer: EventLoop.Timer?
    private var connectTimer: EventLoop.Timer?

    init(
        configuration: BrokerConfiguration, queue: OutcomeQueue, name: String, loop: EventLoop, logger: Logger,
        metrics: ConnectionMetrics
    ) {
        self.configuration = configuration
        self.queue = queue
        self.name = name
        self.loop = loop
        self.logger = logger
        self.metrics = metrics
        attempts = ConnectionAttempts(configuration)
    }

    // MARK: Connecting

    func start(handler: any DeliveryHandler) {
        precondition(self.handler == nil, "a consumer is started once")
        self.handler = handler
        connect()
    }

    private func connect() {
        connectTimer = nil
        guard handler != nil else { return }
        let endpoint = attempts.nextEndpoint()
        do {
            var options = configuration.options(purpose: name)
            options.takesLongHeaders = true
            let session = try AMQPSession(endpoint, options: options)
            try session.setPrefetch(configuration.prefetch)
            let queueName = try prepareQueue(session)
            try session.consume(queueName, tag: queueName)
            connection = try AMQPConnection(session, on: loop, handler: self)
        } catch let error as AMQPError {
            return retry(after: error)
        } catch {
            return retry(after: AMQPError(.closed, "\(error)"))
        }
        attempts.succeeded()
        epoch += 1
        frontier = AcknowledgementFrontier(batchSize: max(1, Int(configuration.prefetch) / 10))
        metrics.becameUsable()
        logger.log(
            .info, "outcomes.consumer.started",
            [.field("broker", endpoint.description), .field("connection", name)])
        handler?.sourceStateChanged(.consuming(epoch: epoch))
    }

    /// Makes the temporary queue and binds it, or names the durable one.
    private func prepareQueue(_ session: AMQPSession) throws(AMQPError) -> String {
        switch queue {
        case .durable(let name): return name
        case .temporary(let patterns):
            let suffix = UInt64.random(in: 0...UInt64.max)
            let name = "\(configuration.names.outcomes).tail-\(String(suffix, radix: 36))"
            try session.declareTemporaryQueue(
                name,
                arguments: [
                    MessageHeader("x-max-length", .int64(Self.temporaryMaximum)),
                    MessageHeader("x-overflow", .string("drop-head")),
                ])
            for pattern in patterns {
                try session.bindQueue(name, exchange: configuration.names.outcomes, routingKey: pattern)
            }
            return name
        }
    }

    private func retry(after error: AMQPError) {
        metrics.failed(error)
        let delayNanoseconds = attempts.failed()
        logger.log(
            error.code.logLevel, "outcomes.consumer.interrupted",
            [.field("connection", name)] + error.fields(retryNanoseconds: delayNanoseconds))
        handler?.sourceStateChanged(error.sourceState)
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Acknowledging

    func settle(_ tags: [DeliveryTag]) {
        guard connection != nil else { return }
        for tag in tags where tag.epoch == epoch { frontier.settled(tag.number, nowNanoseconds: loop.nowNanoseconds) }
        acknowledge()
    }

    private func acknowledge(isFinal: Bool = false) {
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        frontier.takeDue(nowNanoseconds: loop.nowNanoseconds, isFinal: isFinal, into: &due)
        if !due.isEmpty {
            connection?.burst { session throws(AMQPError) in
                for acknowledgement in due {
                    try session.acknowledge(acknowledgement.number, isMultiple: acknowledgement.isMultiple)
                }
            }
        }
        guard acknowledgementTimer == nil, connection != nil, let next = frontier.nextDueNanoseconds else { return }
        let now = loop.nowNanoseconds
        acknowledgementTimer = loop.schedule(afterNanoseconds: next > now ? next - now : 0) { [weak self] in
            self?.acknowledgementTimer = nil
            self?.acknowledge()
        }
    }

    // MARK: Ending

    func close() {
        if let connectTimer { loop.cancel(connectTimer) }
        acknowledge(isFinal: true)
        connection?.close()
        connectionEnded()
        metrics.ended()
        handler = nil
    }

    /// Nothing of the old connection may be acknowledged on the next.
    private func connectionEnded() {
        connection = nil
        frontier = AcknowledgementFrontier(batchSize: 1)
        if let acknowledgementTimer { loop.cancel(acknowledgementTimer) }
        acknowledgementTimer = nil
    }
}

extension OutcomeConsumerCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
        // With few deliveries at hand, one that has ended makes room at once, however long an earlier one takes.
        let isUrgent = configuration.prefetch < Self.prefetchForBatches
        for delivery in deliveries { frontier.received(delivery.number, isUrgent: isUrgent) }
        handler?.deliveriesReceived(
            deliveries.map { delivery in
                Delivery(
                    tag: DeliveryTag(epoch: epoch, number: delivery.number), deliveryClass: .interactive,
                    isRedelivered: delivery.isRedelivered, exchange: delivery.exchange,
                    routingKey: delivery.routingKey, message: Message(delivery))
            })
    }

    func eventsReceived(_ events: [AMQPEvent]) {
        for case .consumerEnded(let tag) in events {
            connection?.close()
            return connectionLost(.brokerEndedConsumer(of: tag))
        }
    }

    func connectionLost(_ error: AMQPError) {
        connectionEnded()
        if handler != nil { retry(after: error) }
    }
}
