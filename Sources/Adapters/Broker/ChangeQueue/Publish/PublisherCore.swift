import AMQP
import ChangeEvents
import EventLoop
import Messages
import Metrics
import StructuredLogging

/// The part of the publisher that lives on its loop.
final class PublisherCore {
    /// How many publishes may await their confirm at once; a power of two.
    private static let windowMaximum = 1_024
    private static let tickNanoseconds: UInt64 = 1_000_000_000

    private struct InFlight {
        var message: OutgoingMessage
        var publishedNanoseconds: UInt64
    }

    private let configuration: BrokerConfiguration
    private let loop: EventLoop
    private let logger: Logger
    private let connectionMetrics: ConnectionMetrics
    private let metrics: PublisherMetrics

    private var handler: (any PublishHandler)?
    private var attempts: ConnectionAttempts
    private var connection: AMQPConnection?
    private var connectTimer: EventLoop.Timer?
    private var isBlocked = false

    private var waiting = MessageQueue()
    private var ledger = ConfirmTracker()
    /// The unconfirmed messages, each at its index modulo the window.
    private var inFlight = [InFlight?](repeating: nil, count: windowMaximum)
    private var nextIndex = 0
    /// The number of messages at the front of the queue that may make the broker close the channel.
    ///
    /// They are published one at a time until the guilty one is known.
    private var suspectCount = 0

    private var refusals: NackMonitor
    private var refused: RefusedPublishes
    private var returned: RefusedPublishes
    /// How many messages wait until they are published again.
    private var delayedCount = 0
    /// Whether nothing more is published on this channel, and a new one is opened when all outcomes are there.
    private var isRenewing = false

    private var ended: [(identifier: UInt64, outcome: PublishOutcome)] = []
    private var closing: ((Bool) -> Void)?

    init(
        configuration: BrokerConfiguration, connection: String, loop: EventLoop, logger: Logger,
        metrics: MetricsRegistry
    ) {
        self.configuration = configuration
        self.loop = loop
        self.logger = logger
        connectionMetrics = ConnectionMetrics(metrics, connection: connection)
        self.metrics = PublisherMetrics(metrics)
        attempts = ConnectionAttempts(configuration)
        refusals = NackMonitor(patienceSeconds: configuration.refusalPatienceSeconds)
        refused = RefusedPublishes(patienceSeconds: configuration.refusedAgainSeconds)
        returned = RefusedPublishes(patienceSeconds: configuration.returnedAgainSeconds)
    }

    // MARK: Connecting

    func start(handler: any PublishHandler) {
        precondition(self.handler == nil, "a publisher is started once")
        self.handler = handler
        connect()
        scheduleTick()
    }

    private func connect() {
        connectTimer = nil
        guard handler != nil else { return }
        let endpoint = attempts.nextEndpoint()
        do {
            let session = try AMQPSession(endpoint, options: configuration.options(purpose: "publish"))
            try session.enableConfirms()
            connection = try AMQPConnection(session, on: loop, handler: self)
        } catch let error as AMQPError {
            return retry(after: error)
        } catch {
            return retry(after: AMQPError(.closed, "\(error)"))
        }
        attempts.succeeded()
        ledger = ConfirmTracker()
        refusals.channelOpened(becauseOfRefusals: isRenewing)
        isRenewing = false
        connectionMetrics.becameUsable()
        logger.log(.info, "amqp.publisher.connected", [.field("broker", endpoint.description)])
        handler?.publisherStateChanged(isReady: true, reason: "connected to \(endpoint)")
        flush()
    }

    private func retry(after error: AMQPError) {
        connectionMetrics.failed(error)
        metrics.blocked(false)
        if isBlocked { handler?.publisherBlocked(false) }
        isBlocked = false
        let delayNanoseconds = attempts.failed()
        logger.log(
            error.isCausedByPublish ? .warning : error.code.logLevel, "amqp.publisher.interrupted",
            error.fields(retryNanoseconds: delayNanoseconds))
        handler?.publisherStateChanged(isReady: false, reason: error.message)
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Publishing

    func publish(_ messages: [OutgoingMessage]) {
        waiting.append(messages)
        flush()
    }

    private func flush() {
        guard !isBlocked, !isRenewing, let connection, !waiting.isEmpty, ledger.span < window else { return }
        let now = loop.nowNanoseconds
        connection.burst { session throws(AMQPError) in
            while ledger.span < window, let message = waiting.first {
                let number: UInt64
                do throws(AMQPError) {
                    number = try session.publish(
                        Message(publishing: message.message, user: connection.endpoint.user),
                        exchange: message.exchange, routingKey: message.routingKey,
                        isMandatory: !message.isOptional)
                } catch  where error.code == .invalid {
                    waiting.removeFirst()
                    end(message.identifier, .rejected(error.message))
                    continue
                }
                // Removed only now: a message whose publish the connection's end has interrupted stays in the queue.
                waiting.removeFirst()
                inFlight[nextIndex % Self.windowMaximum] = InFlight(message: message, publishedNanoseconds: now)
                ledger.published(number, index: nextIndex)
                nextIndex += 1
            }
        }
        handOver()
    }

    private var window: Int { suspectCount > 0 ? 1 : Self.windowMaximum }

    // MARK: Outcomes

    private func end(_ identifier: UInt64, _ outcome: PublishOutcome) {
        if suspectCount > 0 { suspectCount -= 1 }
        refused.ended(identifier)
        returned.ended(identifier)
        metrics.ended(outcome)
        ended.append((identifier, outcome))
    }

    private func handOver() {
        if !ended.isEmpty {
            let outcomes = ended
            ended = []
            handler?.publishesEnded(outcomes)
        }
        finishClosingIfIdle()
    }

    private func take(_ outcomes: [ConfirmTracker.Outcome]) {
        let now = loop.nowNanoseconds
        for outcome in outcomes {
            let slot = outcome.index % Self.windowMaximum
            guard let published = inFlight[slot] else { continue }
            inFlight[slot] = nil
            metrics.confirmed(afterNanoseconds: now &- published.publishedNanoseconds)
            let identifier = published.message.identifier
            watchRefusals(of: published.message, outcome, nowNanoseconds: now)
            guard let failure = outcome.failure else {
                end(identifier, .confirmed)
                continue
            }
            if outcome.isReturned {
                returnedByBroker(published.message, failure, nowNanoseconds: now)
            } else if !published.message.isOptional, let delay = refused.refused(identifier, nowNanoseconds: now) {
                publishAgain(
                    published.message, afterNanoseconds: delay,
                    because: "RabbitMQ refuses messages (basic.nack): a queue is full, or has just lost its leader")
            } else {
                end(identifier, .refused)
            }
        }
    }

    /// No queue took a message, or its exchange is not there.
    private func returnedByBroker(_ message: OutgoingMessage, _ text: String, nowNanoseconds now: UInt64) {
        if !message.isOptional, let delay = returned.refused(message.identifier, nowNanoseconds: now) {
            publishAgain(message, afterNanoseconds: delay, because: "no queue takes messages: \(text)")
        } else {
            end(message.identifier, .returned(text))
        }
    }

    private func publishAgain(_ message: OutgoingMessage, afterNanoseconds delay: UInt64, because reason: String) {
        if suspectCount > 0 { suspectCount -= 1 }
        if refused.count + returned.count == 1, delayedCount == 0 {
            handler?.publisherStateChanged(isReady: false, reason: "\(reason); they are published again")
        }
        delayedCount += 1
        loop.schedule(afterNanoseconds: delay) { [weak self] in
            guard let self else { return }
            delayedCount -= 1
            publish([message])
        }
    }

    private func watchRefusals(of message: OutgoingMessage, _ outcome: ConfirmTracker.Outcome, nowNanoseconds: UInt64) {
        let isRefused = outcome.failure != nil && !outcome.isReturned
        guard isRefused || refusals.isWatching else { return }
        let target = message.exchange.isEmpty ? message.routingKey : message.exchange
        guard isRefused else { return refusals.taken(by: target) }
        guard refusals.refused(by: target, nowNanoseconds: nowNanoseconds), !isRenewing else { return }
        isRenewing = true
        logger.log(
            .warning, "amqp.publisher.refused",
            [
                .field("target", target),
                .field("advice", "The broker refuses everything on this channel; another one is tried."),
            ])
    }

    /// Opens a new channel, with a connection of its own, once the old one is idle.
    private func renewIfIdle() {
        guard isRenewing, ledger.isEmpty, let connection, closing == nil || !isIdle else { return }
        connection.close()
        self.connection = nil
        connect()
    }

    // MARK: Time

    private func scheduleTick() {
        loop.schedule(afterNanoseconds: Self.tickNanoseconds) { [weak self] in
            guard let self, handler != nil else { return }
            checkConfirmTimeout()
            scheduleTick()
        }
    }

    private func checkConfirmTimeout() {
        guard connection != nil, !isBlocked, let index = ledger.oldestIndex,
            let oldest = inFlight[index % Self.windowMaximum]
        else { return }
        let ageSeconds = Double(loop.nowNanoseconds &- oldest.publishedNanoseconds) / 1_000_000_000
        guard ageSeconds > configuration.confirmTimeoutSeconds else { return }
        connection?.abandon()
        connectionLost(
            AMQPError(.timedOut, "the broker did not confirm within \(configuration.confirmTimeoutSeconds) s"))
    }

    // MARK: Ending

    func close(deadlineSeconds: Double, _ completion: @escaping (Bool) -> Void) {
        closing = completion
        finishClosingIfIdle()
        guard closing != nil else { return }
        loop.schedule(afterNanoseconds: UInt64(max(0, deadlineSeconds) * 1_000_000_000)) { [weak self] in
            self?.finishClosing(isComplete: false)
        }
    }

    private func finishClosingIfIdle() {
        if closing != nil, isIdle { finishClosing(isComplete: true) }
    }

    /// Whether every message has its outcome.
    private var isIdle: Bool { waiting.isEmpty && ledger.isEmpty && delayedCount == 0 }

    private func finishClosing(isComplete: Bool) {
        guard let closing else { return }
        self.closing = nil
        if let connectTimer { loop.cancel(connectTimer) }
        connection?.close()
        connection = nil
        handler = nil
        connectionMetrics.ended()
        closing(isComplete)
    }
}

extension PublisherCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {}

    func eventsReceived(_ events: [AMQPEvent]) {
        var outcomes: [ConfirmTracker.Outcome] = []
        for event in events {
            switch event {
            case .blocked(let reason): setBlocked(true, reason: reason)
            case .unblocked: setBlocked(false, reason: "the broker takes publishes again")
            case .confirmed, .returned: ledger.take(event, into: &outcomes)
            case .consumerEnded, .consumerCancelled: break
            }
        }
        take(outcomes)
        handOver()
        renewIfIdle()
        flush()
    }

    private func setBlocked(_ isBlocked: Bool, reason: String) {
        guard isBlocked != self.isBlocked else { return }
        self.isBlocked = isBlocked
        metrics.blocked(isBlocked)
        logger.log(.warning, "amqp.publisher.blocked", [.field("blocked", isBlocked), .field("reason", reason)])
        // The time that the broker spent blocked is not the time that it takes to confirm.
        if !isBlocked {
            for index in ledger.openIndices {
                inFlight[index % Self.windowMaximum]?.publishedNanoseconds = loop.nowNanoseconds
            }
        }
        handler?.publisherStateChanged(isReady: !isBlocked, reason: reason)
        handler?.publisherBlocked(isBlocked)
    }

    func connectionLost(_ error: AMQPError) {
        connection = nil
        var unconfirmed: [OutgoingMessage] = []
        for index in ledger.openIndices {
            if let published = inFlight[index % Self.windowMaximum] { unconfirmed.append(published.message) }
            inFlight[index % Self.windowMaximum] = nil
        }
        ledger = ConfirmTracker()
        if error.isCausedByPublish, unconfirmed.count == 1 {
            let message = unconfirmed.removeFirst()
            if error.refusesForGood {
                end(message.identifier, .rejected(error.message))
            } else {
                returnedByBroker(message, error.message, nowNanoseconds: loop.nowNanoseconds)
            }
        } else if error.isCausedByPublish {
            suspectCount = max(suspectCount, unconfirmed.count)
        }
        waiting.prepend(unconfirmed)
        retry(after: error)
        handOver()
    }
}

/// The messages that are still to be published, in order.
struct MessageQueue {
    private var messages: [OutgoingMessage] = []
    private var head = 0

    var isEmpty: Bool { head == messages.count }

    var first: OutgoingMessage? { head < messages.count ? messages[head] : nil }

    mutating func append(_ added: [OutgoingMessage]) {
        if head > 1_024, 2 * head > messages.count { compact() }
        messages.append(contentsOf: added)
    }

    mutating func removeFirst() {
        // The body would otherwise live on until the space is used again.
        messages[head].message.body = []
        head += 1
        if head == messages.count {
            messages.removeAll(keepingCapacity: messages.count <= 4_096)
            head = 0
        }
    }

    /// Puts messages before all others.
    mutating func prepend(_ added: [OutgoingMessage]) {
        compact()
        messages.insert(contentsOf: added, at: 0)
    }

    private mutating func compact() {
        messages.removeFirst(head)
        head = 0
    }
}
