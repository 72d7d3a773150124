import AMQP
import ChangeEvents
import EventLoop
import Messages
import StructuredLogging
import Synchronization

/// The part of `OutcomeQueues` that lives on its loop: one connection with a consumer for each queue.
final class OutcomeQueuesCore {
    /// How often queues that are not consumed are looked at, and deliveries that are held.
    private static let lookNanoseconds: UInt64 = 3_000_000_000
    /// How long a source may keep a delivery unsettled; then it is given back to its queue.
    ///
    /// RabbitMQ closes the channel, with all its consumers, when one is held for half an hour (`consumer_timeout`).
    private static let heldNanosecondsMaximum: UInt64 = 1_500_000_000_000
    /// How long the broker may take to end a consumer that was closed; then the connection ends without a word.
    private static let goodbyeNanoseconds: UInt64 = 4_000_000_000

    private let configuration: BrokerConfiguration
    private let name: String
    private let loop: EventLoop
    private let logger: Logger
    private let metrics: ConnectionMetrics

    private var feeds: [OutcomeFeed]
    private var attempts: ConnectionAttempts
    private var connection: AMQPConnection?
    private var connectTimer: EventLoop.Timer?
    private var lookTimer: EventLoop.Timer?
    private var look: OutcomeQueueLook?

    init(
        _ queues: [OutcomeQueues.Queue], configuration: BrokerConfiguration, name: String, loop: EventLoop,
        logger: Logger, metrics: ConnectionMetrics
    ) {
        self.configuration = configuration
        self.name = name
        self.loop = loop
        self.logger = logger
        self.metrics = metrics
        feeds = queues.map { OutcomeFeed(queue: $0) }
        attempts = ConnectionAttempts(configuration)
    }

    // MARK: The sources

    func start(_ index: Int, handler: any DeliveryHandler) {
        precondition(feeds[index].handler == nil, "a source is started once")
        feeds[index].handler = handler
        if feeds.allSatisfy({ $0.handler != nil || $0.state == .closed }) { connect() }
    }

    func settle(_ index: Int, _ tags: [DeliveryTag]) {
        let numbers = tags.compactMap { feeds[index].settle($0) }
        guard !numbers.isEmpty else { return }
        connection?.burst { session throws(AMQPError) in
            for number in numbers { try session.acknowledge(number, isMultiple: false) }
        }
    }

    /// Consumes a queue no more, and gives back what is not settled.
    ///
    /// - Parameters:
    ///   - index: the queue.
    ///   - completion: hears when that has happened, and whether it was the last queue.
    func close(_ index: Int, completion: @escaping (_ isLast: Bool) -> Void) {
        let wasConsuming = feeds[index].state == .consuming && connection != nil
        feeds[index].closed(completion)
        guard wasConsuming else { return ended(index) }
        cancel(index)
        loop.schedule(afterNanoseconds: Self.goodbyeNanoseconds) { [weak self] in
            guard let self, feeds[index].isEnding, let connection else { return }
            connection.abandon()
            connectionLost(AMQPError(.timedOut, "the broker does not end a consumer"))
        }
    }

    private func cancel(_ index: Int) {
        connection?.burst { session throws(AMQPError) in try session.cancelConsumer(tag: feeds[index].tag(index)) }
    }

    /// A queue that was closed has no consumer and no delivery any more.
    private func ended(_ index: Int) {
        guard let completion = feeds[index].takeCompletion() else { return }
        let isLast = feeds.allSatisfy { $0.state == .closed && !$0.isEnding }
        if isLast { end() }
        completion(isLast)
    }

    private func end() {
        for timer in [connectTimer, lookTimer] { if let timer { loop.cancel(timer) } }
        connection?.close()
        connection = nil
        metrics.ended()
    }

    // MARK: Connecting

    private func connect() {
        connectTimer = nil
        guard feeds.contains(where: { $0.state != .closed }) else { return }
        let endpoint = attempts.nextEndpoint()
        do {
            var options = configuration.options(purpose: name)
            options.takesLongHeaders = true
            let session = try AMQPSession(endpoint, options: options)
            let consumed = try feeds.indices.filter { try isThere($0, session) }
            // Without waiting for answers from here on: deliveries begin to flow.
            for index in consumed { try start(index, session) }
            connection = try AMQPConnection(session, on: loop, handler: self)
            attempts.succeeded()
            metrics.becameUsable()
            logger.log(
                .info, "outcomes.consumer.started",
                [.field("broker", endpoint.description), .field("connection", name)])
            for index in consumed { consumptionBegan(index) }
            lookLater()
        } catch let error as AMQPError {
            retry(after: error)
        } catch {
            retry(after: AMQPError(.closed, "\(error)"))
        }
    }

    /// Whether a queue is to be consumed and there; if it is not there, its source is told.
    private func isThere(_ index: Int, _ session: AMQPSession) throws(AMQPError) -> Bool {
        let queue = feeds[index].queue.name
        guard feeds[index].state != .closed, feeds[index].refusal == nil else { return false }
        var isThere = true
        do throws(AMQPError) {
            isThere = try session.queueStatus(queue) != nil
        } catch  where error.code == .refused && !session.isClosed {
            // Some versions ask for more rights to look at a queue than to consume it.
        }
        if !isThere {
            interrupted(
                index, AMQPError(.missing, "\(queue) is missing at \(session.endpoint); run `apus topology apply`"))
        } else if try isUnreadable(queue, session) {
            isThere = false
            interrupted(index, AMQPError(.refused, "the user may not read the queue '\(queue)'"))
        }
        return isThere
    }

    /// Whether a queue may not be read, where that was so of another: a refusal ends the connection of all, so it is
    /// met once only.
    private func isUnreadable(_ queue: String, _ session: AMQPSession) throws(AMQPError) -> Bool {
        guard feeds.contains(where: { $0.refusal?.code == .refused }) else { return false }
        return try !session.mayRead(queue: queue)
    }

    private func start(_ index: Int, _ session: AMQPSession) throws(AMQPError) {
        let queue = feeds[index].queue
        try session.startConsumer(of: queue.name, tag: feeds[index].nextTag(index), prefetch: queue.prefetch)
    }

    private func consumptionBegan(_ index: Int) {
        let epoch = feeds[index].began()
        feeds[index].handler?.sourceStateChanged(.consuming(epoch: epoch))
    }

    /// A queue is not consumed, for a reason that is not the connection's.
    private func interrupted(_ index: Int, _ error: AMQPError) {
        let isQueue = error.code == .refused || error.message.contains("'\(feeds[index].queue.name)'")
        let isNews = feeds[index].interrupted(isQueue ? error : nil, nowNanoseconds: loop.nowNanoseconds)
        feeds[index].handler?.sourceStateChanged(error.sourceState)
        guard isNews else { return }
        logger.log(
            error.code.logLevel, "outcomes.consumer.interrupted",
            [
                .field("connection", name), .field("queue", feeds[index].queue.name),
                .field("cause", error.code.label), .field("reason", error.message),
            ])
    }

    private func retry(after error: AMQPError) {
        metrics.failed(error)
        let delayNanoseconds = attempts.failed()
        logger.log(
            error.code.logLevel, "outcomes.consumer.interrupted",
            [.field("connection", name)] + error.fields(retryNanoseconds: delayNanoseconds))
        for index in feeds.indices where feeds[index].state != .closed {
            feeds[index].connectionLost()
            feeds[index].handler?.sourceStateChanged((feeds[index].refusal ?? error).sourceState)
        }
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Looking after single queues

    private func lookLater() {
        guard lookTimer == nil else { return }
        lookTimer = loop.schedule(afterNanoseconds: Self.lookNanoseconds) { [weak self] in
            guard let self else { return }
            lookTimer = nil
            guard connection != nil else { return }
            giveBackHeld()
            lookForMissing()
            lookLater()
        }
    }

    /// Cancels the consumers of queues whose deliveries are held for too long; `giveBack` follows, and a new consumer.
    private func giveBackHeld() {
        let now = loop.nowNanoseconds
        for index in feeds.indices where feeds[index].state == .consuming {
            guard let since = feeds[index].heldSinceNanoseconds, now >= since &+ Self.heldNanosecondsMaximum else {
                continue
            }
            feeds[index].restarts()
            cancel(index)
        }
    }

    /// Consumes queues again that are there by now, and asks for those that are not.
    private func lookForMissing() {
        if let look, let found = look.found {
            self.look = nil
            for (index, isThere) in zip(look.feeds, found) where isThere && feeds[index].state == .interrupted {
                feeds[index].refusal = nil
                startAgain(index)
            }
        }
        let now = loop.nowNanoseconds
        let missing = feeds.indices.filter { feeds[$0].state == .interrupted && now >= feeds[$0].notBeforeNanoseconds }
        guard !missing.isEmpty, look == nil else { return }
        look = OutcomeQueueLook(missing, missing.map { feeds[$0].queue.name }, configuration)
    }

    private func startAgain(_ index: Int) {
        let isStarted = connection?.burst { session throws(AMQPError) in try start(index, session) } ?? false
        if isStarted { consumptionBegan(index) }
    }
}

extension OutcomeQueuesCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
        let now = loop.nowNanoseconds
        // Nearly always one run for each queue.
        for (tag, run) in Dictionary(grouping: deliveries, by: \.consumerTag) {
            guard let index = index(ofConsumer: tag) else { continue }
            let received = run.map { delivery in
                Delivery(
                    tag: feeds[index].received(delivery.number, nowNanoseconds: now), deliveryClass: .interactive,
                    isRedelivered: delivery.isRedelivered, exchange: delivery.exchange,
                    routingKey: delivery.routingKey, message: Message(delivery))
            }
            feeds[index].handler?.deliveriesReceived(received)
        }
    }

    func eventsReceived(_ events: [AMQPEvent]) {
        for event in events {
            switch event {
            case .consumerEnded(let tag):
                if let index = index(ofConsumer: tag) { consumerEnded(index) }
            case .consumerCancelled(let tag):
                if let index = index(ofConsumer: tag) { giveBack(index) }
            case .confirmed, .returned, .blocked, .unblocked: break
            }
        }
    }

    /// The queue whose consumer has a tag; nil if that consumer was replaced.
    private func index(ofConsumer tag: String) -> Int? {
        guard let index = tag.split(separator: ".").first.flatMap({ Int($0) }), feeds.indices.contains(index),
            feeds[index].tag(index) == tag
        else { return nil }
        return index
    }

    /// The broker ended a consumer.
    ///
    /// Its deliveries are given back, also if the queue is gone. Otherwise the broker would miss an answer half an hour
    /// later, and close the channel of all queues.
    private func consumerEnded(_ index: Int) {
        giveBackDeliveries(of: index)
        guard feeds[index].state != .closed else { return ended(index) }
        interrupted(index, .brokerEndedConsumer(of: feeds[index].queue.name))
    }

    /// A consumer has ended at our own wish: what it brought goes back to its queue.
    private func giveBack(_ index: Int) {
        giveBackDeliveries(of: index)
        if feeds[index].state == .closed { ended(index) } else { startAgain(index) }
    }

    private func giveBackDeliveries(of index: Int) {
        let numbers = feeds[index].takeHeld()
        connection?.burst { session throws(AMQPError) in
            for number in numbers { try session.giveBack(number) }
        }
    }

    func connectionLost(_ error: AMQPError) {
        connection = nil
        for index in feeds.indices {
            _ = feeds[index].takeHeld()
            // It is the queue that is in trouble, and the others go on without it: the user may not read it, or it has
            // no leader (541, "timed out consuming from quorum queue").
            if error.message.contains("'\(feeds[index].queue.name)'") { interrupted(index, error) }
        }
        let isUsed = feeds.contains { $0.state != .closed }
        if isUsed { retry(after: error) }
        for index in feeds.indices where feeds[index].isEnding { ended(index) }
    }
}

/// One look whether queues are there and may be read.
///
/// It has a connection of its own, because the broker closes the channel of who asks for what is not there. The loop of
/// the consumers looks at the result later.
private final class OutcomeQueueLook: Sendable {
    /// The numbers of the queues.
    let feeds: [Int]
    private let result = Mutex<[Bool]?>(nil)

    init(_ feeds: [Int], _ queues: [String], _ configuration: BrokerConfiguration) {
        self.feeds = feeds
        Task {
            let found = try? await configuration.withSession(purpose: "look") { session in
                try queues.map { queue in
                    do {
                        return try session.queueStatus(queue) != nil && session.mayRead(queue: queue)
                    } catch let error as AMQPError where error.code == .refused && !session.isClosed {
                        // Some versions ask for rights to look at a queue, and the others can be looked at.
                        return try session.mayRead(queue: queue)
                    }
                }
            }
            result.withLock { $0 = found ?? [] }
        }
    }

    /// Which of them are; nil as long as the broker has not answered, empty if it cannot be had.
    var found: [Bool]? { result.withLock { $0 } }
}
