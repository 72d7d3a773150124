import AMQP
import ChangeEvents
import DispatchCore
import EventLoop
import Messages
import Metrics
import StructuredLogging

/// The part of the consumer that lives on its loop.
final class ConsumerCore {
    /// The longest wait for received deliveries to be settled before consuming starts again.
    private static let resumeNanosecondsMaximum: UInt64 = 5_000_000_000
    /// The same limit in normal operation, so that no delivery need come again; a push ends sooner as a rule.
    private static let shareOutNanosecondsMaximum: UInt64 = 30_000_000_000
    /// The most unacknowledged deliveries of the fan-out queue.
    ///
    /// Each is a chunk of some thousand pushes, so a few keep a worker busy; no other worker can serve them.
    private static let fanoutPrefetch: UInt16 = 4
    private static let fanoutTag = "fanout"

    let configuration: BrokerConfiguration
    let loop: EventLoop
    let logger: Logger
    private let connectionMetrics: ConnectionMetrics
    private let metrics: ConsumerMetrics

    private var handler: (any DeliveryHandler)?
    private var attempts: ConnectionAttempts
    private(set) var connection: AMQPConnection?
    private(set) var epoch: UInt32 = 0
    private var frontier = AcknowledgementFrontier(batchSize: 1)
    private var due: [AcknowledgementFrontier.Acknowledgement] = []
    private var acknowledgementTimer: EventLoop.Timer?
    private var connectTimer: EventLoop.Timer?
    var activeTags: Set<String> = []
    private(set) var isCancelled = false
    private(set) var isPaused = false
    private var resumeTimer: EventLoop.Timer?
    /// Runs while RabbitMQ has the time to pass on the last acknowledgements, before the connection is closed.
    private var settlementTimer: EventLoop.Timer?
    var retired = RetiredQueues()
    var retiredTimer: EventLoop.Timer?
    var retiredQueueProbe: RetiredQueueProbe?
    private var cancelWaiters: [() -> Void] = []
    private var whenClosed: (() -> Void)?

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
            var options = configuration.options(purpose: "consume")
            options.takesLongHeaders = true
            let session = try AMQPSession(endpoint, options: options)
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
        let share = Int(configuration.prefetch) / (configuration.workQueueCount + retired.count)
        frontier = AcknowledgementFrontier(batchSize: min(batchSize, max(1, share / 2)))
        activeTags = Set(workQueues.map(tag(of:)) + retired.tags + [Self.fanoutTag])
        connectionMetrics.becameUsable()
        logger.log(
            .info, "amqp.consumer.started",
            [.field("broker", endpoint.description), .field("epoch", Int(epoch))])
        watchRetired()
        handler?.sourceStateChanged(.consuming(epoch: epoch))
    }

    /// The work queues that the configuration asks for.
    private var workQueues: [String] { (1...configuration.workQueueCount).map(configuration.names.work) }

    /// How the deliveries of a queue are marked: its name without the namespace.
    func tag(of queue: String) -> String { String(queue.dropFirst(configuration.namespace.utf8.count + 1)) }

    private func beginConsuming(_ session: AMQPSession) throws(AMQPError) {
        let names = configuration.names
        var missing: [String] = []
        for queue in workQueues + [names.fanout] where try !isThere(queue, session) { missing.append(queue) }
        guard missing.isEmpty else {
            session.close()
            throw AMQPError(
                .missing,
                "\(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") missing at "
                    + "\(session.endpoint); run `apus topology apply`")
        }
        try reportMissingExchanges(session)
        let found = try session.surplusWorkQueues(names, beyond: configuration.workQueueCount)
        retired = RetiredQueues(tags: found.map { tag(of: names.work($0.number)) })
        // The work queues last: their deliveries begin to flow.
        try session.setPrefetch(Self.fanoutPrefetch)
        try session.consume(names.fanout, tag: Self.fanoutTag)
        let queues = workQueues + found.map { names.work($0.number) }
        for (index, queue) in queues.enumerated() {
            // The prefetch is the worker's, so each queue gets a share; the first also gets the remainder.
            let (share, rest) = Int(configuration.prefetch).quotientAndRemainder(dividingBy: queues.count)
            try session.setPrefetch(UInt16(max(1, share + (index < rest ? 1 : 0))))
            try session.consume(queue, tag: tag(of: queue))
        }
    }

    /// Whether a queue is there, as far as this user may ask; if it is not, consuming it says so, too.
    private func isThere(_ queue: String, _ session: AMQPSession) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            return try session.queueStatus(queue) != nil
        } catch  where error.code == .refused && !session.isClosed {
            let identity = BrokerIdentity(session.server)
            logger.log(
                .warning, "amqp.queue.unseen",
                [
                    .field("queue", queue), .field("broker", identity.description), .field("reason", error.message),
                    .field(
                        "advice",
                        identity.asksToConfigureForLooking
                            ? "This version asks for `configure`; update to 4.2.7 or 4.3.1, or permit it."
                            : "Permit this user to read the queue."),
                ])
            return true
        }
    }

    /// Logs missing exchanges; messages in the queues are processed all the same.
    private func reportMissingExchanges(_ session: AMQPSession) throws(AMQPError) {
        let names = configuration.names
        for exchange in [names.changes] + (configuration.workQueueCount > 1 ? [names.workHash] : []) {
            do throws(AMQPError) {
                try session.declareExchange(exchange, type: "topic", isPassive: true)
            } catch  where error.code == .missing {
                logger.log(
                    .error, "amqp.exchange.missing",
                    [
                        .field("exchange", exchange), .field("broker", session.endpoint.description),
                        .field("advice", "No new event comes by it; run `apus topology apply`."),
                    ])
            } catch  where error.code == .refused { continue }
        }
    }

    private func retry(after error: AMQPError) {
        connectionMetrics.failed(error)
        let delayNanoseconds = attempts.failed()
        logger.log(error.code.logLevel, "amqp.consumer.interrupted", error.fields(retryNanoseconds: delayNanoseconds))
        handler?.sourceStateChanged(error.sourceState)
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Acknowledging

    func settle(_ tags: [DeliveryTag]) {
        guard connection != nil else { return }
        let now = loop.nowNanoseconds
        for tag in tags where tag.epoch == epoch { frontier.settled(tag.number, nowNanoseconds: now) }
        if !retired.isEmpty {
            for tag in tags where tag.epoch == epoch { retired.settled(tag.number) }
        }
        acknowledge()
    }

    func reject(_ tags: [DeliveryTag]) {
        guard connection != nil else { return }
        let now = loop.nowNanoseconds
        var numbers: [UInt64] = []
        for tag in tags where tag.epoch == epoch && frontier.rejected(tag.number, nowNanoseconds: now) {
            numbers.append(tag.number)
            retired.settled(tag.number)
        }
        // At once: the next acknowledgement of many may reach beyond them.
        connection?.burst { session throws(AMQPError) in
            for number in numbers { try session.reject(number) }
        }
        metrics.rejected(numbers.count)
        acknowledge()
    }

    private func acknowledge(isFinal: Bool = false) {
        let countBefore = frontier.unacknowledgedCount
        // No later call would acknowledge what is settled while the consumer closes.
        let isLast = isFinal || whenClosed != nil
        frontier.takeDue(nowNanoseconds: loop.nowNanoseconds, isFinal: isLast, into: &due)
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
        reconnectIfIdle()
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

    /// Cancels the consumers, so that a pause holds no deliveries; RabbitMQ closes a channel on which a delivery is
    /// unacknowledged for too long (`consumer_timeout`).
    func pause() {
        guard !isPaused, !isCancelled else { return }
        isPaused = true
        metrics.paused(true)
        if let resumeTimer { loop.cancel(resumeTimer) }
        resumeTimer = nil
        endConsumers()
    }

    /// Starts to consume as at the beginning, with a new connection, when all deliveries of the old one are settled.
    ///
    /// Deliveries that are unsettled after some seconds come again by the new connection: a duplicate is better than an
    /// endless wait.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        metrics.paused(false)
        guard !isCancelled else { return }
        guard connection != nil else { return connectTimer == nil ? connect() : () }
        reconnect(withinNanoseconds: Self.resumeNanosecondsMaximum)
    }

    /// Gives the prefetch of deleted surplus queues to the other queues.
    ///
    /// That takes new consumers, so the worker consumes from the start.
    func shareOutPrefetch() {
        guard retired.isEmpty, connection != nil, !isCancelled, !isPaused, resumeTimer == nil else { return }
        endConsumers()
        reconnect(withinNanoseconds: Self.shareOutNanosecondsMaximum)
    }

    /// Reconnects and consumes again when no delivery is unsettled, or else at the end of this time.
    private func reconnect(withinNanoseconds delay: UInt64) {
        resumeTimer = loop.schedule(afterNanoseconds: delay) { [weak self] in self?.reconnect() }
        reconnectIfIdle()
    }

    private func reconnectIfIdle() {
        guard resumeTimer != nil, activeTags.isEmpty, frontier.unacknowledgedCount == 0 else { return }
        reconnect()
    }

    private func reconnect() {
        if let resumeTimer { loop.cancel(resumeTimer) }
        resumeTimer = nil
        guard settlementTimer == nil else { return }
        afterSettlement { [weak self] in
            guard let self, let connection, !isCancelled, !isPaused else { return }
            connection.close(synchronizing: queuesToSynchronize)
            connectionEnded()
            activeTags = []
            connect()
        }
    }

    /// Runs `body` when RabbitMQ has had the time to pass on the last acknowledgements.
    ///
    /// It runs at once if there is nothing to wait for, and the loop serves others meanwhile. If the connection ends
    /// first, `body` is dropped, and `connectionLost` finishes a close.
    private func afterSettlement(_ body: @escaping () -> Void) {
        if let settlementTimer { loop.cancel(settlementTimer) }
        settlementTimer = nil
        guard let connection, !queuesToSynchronize.isEmpty, connection.settlementNanoseconds > 0 else { return body() }
        settlementTimer = loop.schedule(afterNanoseconds: connection.settlementNanoseconds) { [weak self] in
            self?.settlementTimer = nil
            body()
        }
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

    func close(whenClosed: @escaping () -> Void) {
        isCancelled = true
        if let connectTimer { loop.cancel(connectTimer) }
        acknowledge(isFinal: true)
        self.whenClosed = whenClosed
        afterSettlement { [weak self] in self?.finishClosing() }
    }

    private func finishClosing() {
        connection?.close(synchronizing: queuesToSynchronize)
        connectionEnded()
        connectionMetrics.ended()
        if !cancelWaiters.isEmpty { becomeCancelled() }
        handler = nil
        whenClosed?()
        whenClosed = nil
    }

    /// The queues whose acknowledgements have to be awaited; queues that may be gone come last.
    ///
    /// None while there are consumers, with which the connection might hand out deliveries to the very end.
    private var queuesToSynchronize: [String] {
        guard activeTags.isEmpty else { return [] }
        return workQueues + [configuration.names.fanout] + retired.tags.map { "\(configuration.namespace).\($0)" }
    }

    /// Nothing of the old connection may be acknowledged on the next.
    private func connectionEnded() {
        connection = nil
        frontier = AcknowledgementFrontier(batchSize: 1)
        if let acknowledgementTimer { loop.cancel(acknowledgementTimer) }
        acknowledgementTimer = nil
        for timer in [resumeTimer, settlementTimer] { if let timer { loop.cancel(timer) } }
        resumeTimer = nil
        settlementTimer = nil
        forgetRetired()
        metrics.acknowledged(0, unacknowledgedCount: 0)
    }
}

extension ConsumerCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
        var converted: [Delivery] = []
        converted.reserveCapacity(deliveries.count)
        var redeliveredCount = 0
        for delivery in deliveries {
            let isBulk = delivery.consumerTag == Self.fanoutTag
            // Its queue hands out few deliveries, and each is a page of pushes or more.
            frontier.received(delivery.number, isUrgent: isBulk)
            if delivery.isRedelivered { redeliveredCount += 1 }
            if !retired.isEmpty { retired.received(delivery.number, tag: delivery.consumerTag) }
            converted.append(
                Delivery(
                    tag: DeliveryTag(epoch: epoch, number: delivery.number),
                    deliveryClass: isBulk ? .bulk : .interactive,
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
            case .consumerEnded(let tag) where retired.tags.contains(tag):
                retired.remove(tag)
                activeTags.remove(tag)
                shareOutPrefetch()
            case .consumerEnded(let tag):
                // The broker delivers unsettled messages again.
                acknowledge(isFinal: true)
                // It may have ended meanwhile.
                guard let connection else { return }
                connection.close()
                connectionLost(.brokerEndedConsumer(of: "\(configuration.namespace).\(tag)"))
                return
            case .consumerCancelled(let tag):
                activeTags.remove(tag)
                if isCancelled, activeTags.isEmpty { becomeCancelled() }
                reconnectIfIdle()
            case .confirmed, .returned, .blocked, .unblocked: break
            }
        }
    }

    func connectionLost(_ error: AMQPError) {
        connectionEnded()
        activeTags = []
        if whenClosed != nil { return finishClosing() }
        guard !isCancelled else {
            connectionMetrics.ended()
            return becomeCancelled()
        }
        retry(after: error)
    }
}
