import AMQP
import ChangeEvents
import EventLoop
import Messages

/// The part of a `LoadPublisher` that lives on its loop.
final class LoadPublisherCore<Source: LoadSource>: AMQPConnectionHandler {
    private static var reconnectNanoseconds: UInt64 { 300_000_000 }
    /// The time without any answer about open publishes after which the connection is closed.
    private static var patienceNanoseconds: UInt64 { 10_000_000_000 }

    private var endpoints: [AMQPEndpoint]
    private let exchange: String
    private var source: Source
    private let pace: LoadPace
    private let loop: EventLoop
    private let load: Watched<PublishedLoad<Source.Event>>

    private var connection: AMQPConnection?
    private var ledger = ConfirmTracker()
    private var attemptCount = 0
    private var isPublishing = false
    private var isStopped = false
    private var isBlocked = false
    private var lastTickNanoseconds: UInt64 = 0
    /// When the broker last confirmed something, or nothing was open.
    private var lastProgressNanoseconds: UInt64 = 0
    /// Since when the broker has refused everything; nil if it took something last.
    private var refusedSinceNanoseconds: UInt64?
    /// How many events are due, as far as the rate goes.
    private var credit = 0.0
    private var publishedCount = 0
    private var isAtEnd = false

    init(
        endpoints: [AMQPEndpoint], exchange: String, source: Source, pace: LoadPace, loop: EventLoop,
        load: Watched<PublishedLoad<Source.Event>>
    ) {
        self.endpoints = endpoints
        self.exchange = exchange
        self.source = source
        self.pace = pace
        self.loop = loop
        self.load = load
    }

    func start() {
        isPublishing = true
        lastTickNanoseconds = loop.nowNanoseconds
        connect()
        tick()
    }

    func move(to endpoints: [AMQPEndpoint]) {
        self.endpoints = endpoints
        guard let connection else { return }
        connection.abandon()
        connectionLost(AMQPError(.closed, "moved"))
    }

    func pause() { isPublishing = false }

    func stop() {
        isPublishing = false
        isStopped = true
        connection?.close()
        connection = nil
    }

    // MARK: Publishing

    private func tick() {
        guard !isStopped else { return }
        let now = loop.nowNanoseconds
        if let rate = pace.eventsPerSecond {
            // Events that could not be published in time are not made up for.
            credit = min(
                credit + Double(now &- lastTickNanoseconds) / 1_000_000_000 * rate,
                max(1, rate / 10))
        }
        lastTickNanoseconds = now
        giveUpIfForgotten(now)
        publish()
        loop.schedule(afterNanoseconds: pace.tickMilliseconds * 1_000_000) { [weak self] in self?.tick() }
    }

    private func giveUpIfForgotten(_ now: UInt64) {
        if ledger.isEmpty || isBlocked { lastProgressNanoseconds = now }
        guard let connection else { return }
        if now &- lastProgressNanoseconds > Self.patienceNanoseconds {
            connection.abandon()
            interrupted(by: "no confirm within ten seconds")
        } else if let since = refusedSinceNanoseconds, now &- since > Self.patienceNanoseconds {
            // As a good publisher does: a channel may refuse a queue for as long as the node of its old leader is away.
            connection.close()
            interrupted(by: "everything was refused for ten seconds")
        }
    }

    private func publish() {
        guard isPublishing, !isBlocked, !isAtEnd, let connection else { return }
        var published: [Source.Event] = []
        let now = WallClock.nowMicroseconds()
        connection.burst { session throws(AMQPError) in
            while pace.eventsPerSecond == nil || credit >= 1, ledger.span < pace.openMaximum {
                guard let event = source.next() else {
                    isAtEnd = true
                    return
                }
                credit -= 1
                // Recorded first, because a publish that the connection's end interrupts may have arrived.
                published.append(event)
                publishedCount += 1
                let message = source.message(of: event)
                let number = try session.publish(
                    Self.message(message), exchange: exchange, routingKey: message.routingKey, isMandatory: true)
                ledger.published(number, index: publishedCount - 1)
            }
        }
        guard !published.isEmpty || isAtEnd else { return }
        let (openCount, hasEnded) = (ledger.count, isAtEnd)
        load.update { load in
            load.events += published
            load.publishedMicroseconds += repeatElement(now, count: published.count)
            load.openCount = openCount
            load.isAtEnd = hasEnded
        }
    }

    private static func message(_ message: LoadMessage) -> Message {
        var properties = MessageProperties()
        properties.contentType = "application/cloudevents+json"
        properties.deliveryMode = 2
        properties.messageID = message.identifier
        var published = Message(properties: properties, body: Array(message.body.utf8))
        if message.isRemembered { published.askToBeRemembered() }
        return published
    }

    // MARK: The connection

    private func connect() {
        guard !isStopped, connection == nil else { return }
        let endpoint = endpoints[attemptCount % endpoints.count]
        attemptCount += 1
        do {
            var options = AMQPOptions()
            options.connectionName = "load"
            let session = try AMQPSession(endpoint, options: options)
            try session.enableConfirms()
            connection = try AMQPConnection(session, on: loop, handler: self)
        } catch {
            return interrupted(by: "\(error)")
        }
    }

    private func interrupted(by reason: String) {
        connection = nil
        ledger = ConfirmTracker()
        isBlocked = false
        refusedSinceNanoseconds = nil
        load.update { load in
            load.openCount = 0
            load.isBlocked = false
            load.interruptionCount += 1
            load.lastInterruption = reason
        }
        loop.schedule(afterNanoseconds: Self.reconnectNanoseconds) { [weak self] in self?.connect() }
    }

    func connectionLost(_ error: AMQPError) { interrupted(by: error.message) }

    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {}

    func eventsReceived(_ events: [AMQPEvent]) {
        var outcomes: [ConfirmTracker.Outcome] = []
        for event in events {
            switch event {
            case .blocked: isBlocked = true
            case .unblocked: isBlocked = false
            case .confirmed, .returned: ledger.take(event, into: &outcomes)
            case .consumerEnded, .consumerCancelled: break
            }
        }
        if !outcomes.isEmpty { lastProgressNanoseconds = loop.nowNanoseconds }
        for outcome in outcomes {
            let isRefused = outcome.failure != nil && !outcome.isReturned
            refusedSinceNanoseconds = isRefused ? refusedSinceNanoseconds ?? loop.nowNanoseconds : nil
        }
        let now = WallClock.nowMilliseconds()
        let (openCount, isBlocked) = (ledger.count, isBlocked)
        load.update { load in
            for outcome in outcomes {
                if outcome.failure == nil {
                    load.confirmedMilliseconds[outcome.index] = now
                } else {
                    load.refusedCount += 1
                }
            }
            load.openCount = openCount
            load.isBlocked = isBlocked
        }
        if pace.eventsPerSecond == nil { publish() }
    }
}
