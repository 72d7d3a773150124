import AMQP
import EventLoop
import Metrics
import PushCore

/// The part of the consumer that lives on its loop.
final class ConsumerCore {
    /// How long what is in hand may take to be settled before consuming begins anew without it.
    private static let resumeNanosecondsMaximum: UInt64 = 5_000_000_000
    /// How many unacknowledged deliveries of the fan-out queue to hold: each is a chunk of many pushes.
    private static let fanoutPrefetch: UInt16 = 4
    private static let workTag = "work"
    private static let fanoutTag = "fanout"

    private let configuration: BrokerConfiguration
    private let loop: EventLoop
    private let logger: Logger
    private let connectionMetrics: ConnectionMetrics
    private let metrics: ConsumerMetrics

    private var handler: (any DeliveryHandler)?
    private var attempts: ConnectionAttempts
    private var connection: AMQPConnection?
    private var epoch: UInt32 = 0
    private var frontier = AcknowledgementFrontier(batchSize: 1)
    private var due: [AcknowledgementFrontier.Acknowledgement] = []
    private var acknowledgementTimer: EventLoop.Timer?
    private var connectTimer: EventLoop.Timer?
    private var activeTags: Set<String> = []
    private var isCancelled = false
    private var isPaused = false
    private var resumeTimer: EventLoop.Timer?
    private var cancelWaiters: [() -> Void] = []

    init(configuration: BrokerConfiguration, loop: EventLoop, logger: Logger, metrics: MetricsRegistry) {
        self.configuration = configuration
        self.loop = loop
        self.logger = logger
        connectionMetrics = ConnectionMetrics(metrics, connection: "consume")
        self.metrics = ConsumerMetrics(metrics)
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
        guard !isCancelled, !isPaused else { return }
        let endpoint = attempts.nextEndpoint()
        do {
            let session = try AMQPSession(endpoint, options: configuration.options(purpose: "consume"))
            try beginConsuming(session)
            connection = try AMQPConnection(session, on: loop, handler: self)
        } catch let error as AMQPError {
            return retry(after: error)
        } catch {
            return retry(after: AMQPError(.closed, "\(error)"))
        }
        attempts.succeeded()
        epoch += 1
        let batchSize = max(16, Int(configuration.prefetch) / 20)
        // A prefetch below the batch would wait for the timer each time round.
        frontier = AcknowledgementFrontier(batchSize: min(batchSize, max(1, Int(configuration.prefetch) / 2)))
        activeTags = [Self.workTag, Self.fanoutTag]
        connectionMetrics.becameUsable()
        logger.log(
            .info, "amqp.consumer.started",
            [.field("broker", endpoint.description), .field("epoch", Int(epoch))])
        handler?.sourceStateChanged(.consuming(epoch: epoch))
    }

    private func beginConsuming(_ session: AMQPSession) throws(AMQPError) {
        let names = configuration.names
        var missing: [String] = []
        for queue in [names.work, names.fanout] {
            do throws(AMQPError) {
                try session.declareQueue(queue, isPassive: true)
            } catch  where error.code == .missing { missing.append(queue) }
        }
        guard missing.isEmpty else {
            session.close()
            throw AMQPError(
                .missing,
                "\(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") missing at "
                    + "\(session.endpoint); run `apus topology apply`")
        }
        // The work queue last: its deliveries begin to flow, and no request may follow.
        try session.setPrefetch(Self.fanoutPrefetch)
        try session.consume(names.fanout, tag: Self.fanoutTag)
        try session.setPrefetch(configuration.prefetch)
        try session.consume(names.work, tag: Self.workTag)
    }

    private func retry(after error: AMQPError) {
        connectionMetrics.failed(error)
        let delayNanoseconds = attempts.failed()
        logger.log(
            error.code.needsOperator ? .error : .warning, "amqp.consumer.interrupted",
            [
                .field("cause", error.code.label), .field("reason", error.message),
                .field("retrySeconds", Double(delayNanoseconds) / 1_000_000_000),
            ])
        handler?.sourceStateChanged(
            error.code.needsOperator ? .misconfigured(reason: error.message) : .interrupted(reason: error.message))
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Acknowledging

    func settle(_ tags: [DeliveryTag]) {
        guard connection != nil else { return }
        let now = loop.nowNanoseconds
        for tag in tags where tag.epoch == epoch { frontier.settled(tag.number, nowNanoseconds: now) }
        acknowledge()
    }

    private func acknowledge(isFinal: Bool = false) {
        let countBefore = frontier.unacknowledgedCount
        frontier.takeDue(nowNanoseconds: loop.nowNanoseconds, isFinal: isFinal, into: &due)
        let countAfter = frontier.unacknowledgedCount
        if !due.isEmpty {
            let acknowledgements = due
            due.removeAll(keepingCapacity: true)
            connection?.burst { session throws(AMQPError) in
                for acknowledgement in acknowledgements {
                    try session.acknowledge(acknowledgement.number, isMultiple: acknowledgement.isMultiple)
                }
            }
        }
        metrics.acknowledged(countBefore - countAfter, unacknowledgedCount: frontier.unacknowledgedCount)
        scheduleAcknowledgement()
        beginAnewIfIdle()
    }

    private func scheduleAcknowledgement() {
        guard acknowledgementTimer == nil, connection != nil, let dueNanoseconds = frontier.nextDueNanoseconds else {
            return
        }
        let now = loop.nowNanoseconds
        let delayNanoseconds = dueNanoseconds > now ? dueNanoseconds - now : 0
        acknowledgementTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in
            self?.acknowledgementTimer = nil
            self?.acknowledge()
        }
    }

    // MARK: Pausing

    /// Ends the consumers, so that nothing is held for as long as the pause lasts; RabbitMQ closes a channel on which
    /// one delivery is held for too long (`consumer_timeout`).
    func pause() {
        guard !isPaused, !isCancelled else { return }
        isPaused = true
        metrics.paused(true)
        if let resumeTimer { loop.cancel(resumeTimer) }
        resumeTimer = nil
        endConsumers()
    }

    /// Begins to consume as at the start, by a connection of its own, when nothing of the old one is in hand any more.
    ///
    /// What is still in hand after some seconds comes again by the new connection: a duplicate is better than no end.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        metrics.paused(false)
        guard !isCancelled else { return }
        guard connection != nil else { return connectTimer == nil ? connect() : () }
        resumeTimer = loop.schedule(afterNanoseconds: Self.resumeNanosecondsMaximum) { [weak self] in
            self?.beginAnew()
        }
        beginAnewIfIdle()
    }

    private func beginAnewIfIdle() {
        guard resumeTimer != nil, activeTags.isEmpty, frontier.unacknowledgedCount == 0 else { return }
        beginAnew()
    }

    private func beginAnew() {
        if let resumeTimer { loop.cancel(resumeTimer) }
        resumeTimer = nil
        guard let connection, !isCancelled, !isPaused else { return }
        let queues = activeTags.isEmpty ? [configuration.names.work, configuration.names.fanout] : []
        connection.close(synchronizing: queues)
        connectionEnded()
        activeTags = []
        connect()
    }

    private func endConsumers() {
        let tags = activeTags
        connection?.burst { session throws(AMQPError) in
            for tag in tags { try session.cancelConsumer(tag: tag) }
        }
    }

    // MARK: Ending

    func cancel(_ completion: @escaping () -> Void) {
        cancelWaiters.append(completion)
        guard !isCancelled else { return activeTags.isEmpty ? becomeCancelled() : () }
        isCancelled = true
        if let connectTimer { loop.cancel(connectTimer) }
        connectTimer = nil
        guard connection != nil, !activeTags.isEmpty else { return becomeCancelled() }
        endConsumers()
    }

    private func becomeCancelled() {
        let waiters = cancelWaiters
        cancelWaiters = []
        activeTags = []
        handler?.sourceStateChanged(.cancelled)
        for waiter in waiters { waiter() }
    }

    func close() {
        isCancelled = true
        if let connectTimer { loop.cancel(connectTimer) }
        acknowledge(isFinal: true)
        // With its consumers, the connection might hand out deliveries to the very end.
        let isIdle = activeTags.isEmpty
        connection?.close(synchronizing: isIdle ? [configuration.names.work, configuration.names.fanout] : [])
        connectionEnded()
        connectionMetrics.ended()
        if !cancelWaiters.isEmpty { becomeCancelled() }
        handler = nil
    }

    /// Nothing of the old connection may be acknowledged on the next.
    private func connectionEnded() {
        connection = nil
        frontier = AcknowledgementFrontier(batchSize: 1)
        if let acknowledgementTimer { loop.cancel(acknowledgementTimer) }
        acknowledgementTimer = nil
        if let resumeTimer { loop.cancel(resumeTimer) }
        resumeTimer = nil
        metrics.acknowledged(0, unacknowledgedCount: 0)
    }
}

extension ConsumerCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
        var converted: [Delivery] = []
        converted.reserveCapacity(deliveries.count)
        var redeliveredCount = 0
        for delivery in deliveries {
            frontier.received(delivery.number)
            if delivery.isRedelivered { redeliveredCount += 1 }
            converted.append(
                Delivery(
                    tag: DeliveryTag(epoch: epoch, number: delivery.number),
                    lane: delivery.consumerTag == Self.fanoutTag ? .fanout : .work,
                    isRedelivered: delivery.isRedelivered, exchange: delivery.exchange,
                    routingKey: delivery.routingKey, message: Message(delivery)))
        }
        metrics.received(
            converted.count, redeliveredCount: redeliveredCount, unacknowledgedCount: frontier.unacknowledgedCount)
        handler?.deliveriesReceived(converted)
    }

    func eventsReceived(_ events: [AMQPEvent]) {
        for event in events {
            switch event {
            case .consumerEnded(let tag):
                // The queue is gone: begin anew, which finds out and says what is missing.
                acknowledge(isFinal: true)
                connection?.close()
                connectionLost(
                    AMQPError(.missing, "the broker ended the consumer of \(configuration.namespace).\(tag)"))
                return
            case .consumerCancelled(let tag):
                activeTags.remove(tag)
                if isCancelled, activeTags.isEmpty { becomeCancelled() }
                beginAnewIfIdle()
            case .confirmed, .returned, .blocked, .unblocked: break
            }
        }
    }

    func connectionLost(_ error: AMQPError) {
        connectionEnded()
        activeTags = []
        guard !isCancelled else {
            connectionMetrics.ended()
            return becomeCancelled()
        }
        retry(after: error)
    }
}
