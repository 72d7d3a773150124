import AMQP
import ChangeEvents
import EventLoop
import Messages
import StructuredLogging
import Synchronization

/// The part of the consumer of outcomes that lives on its loop: one connection with a consumer for each queue.
final class OutcomeConsumerCore {
    /// The most outcomes that wait in a temporary queue for a slow reader; then the oldest go.
    private static let temporaryMaximum: Int64 = 10_000
    /// How often queues that are not consumed are checked, and deliveries that are unsettled.
    private static let checkNanoseconds: UInt64 = 3_000_000_000
    /// How long a delivery may stay unsettled; then it is given back to its queue.
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

    private var queues: [ConsumedQueue]
    private var take: ((OutcomeSourceEvent) -> Void)?
    private var attempts: ConnectionAttempts
    private var connection: AMQPConnection?
    private var connectTimer: EventLoop.Timer?
    private var checkTimer: EventLoop.Timer?
    private var probe: OutcomeQueueProbe?
    private var whenClosed: (() -> Void)?

    init(
        _ queues: [OutcomeConsumer.Queue], configuration: BrokerConfiguration, name: String, loop: EventLoop,
        logger: Logger, metrics: ConnectionMetrics
    ) {
        self.configuration = configuration
        self.name = name
        self.loop = loop
        self.logger = logger
        self.metrics = metrics
        self.queues = queues.map { ConsumedQueue($0) }
        attempts = ConnectionAttempts(configuration)
    }

    // MARK: The source

    func start(_ take: @escaping (OutcomeSourceEvent) -> Void) {
        precondition(self.take == nil, "a source is started once")
        self.take = take
        connect()
    }

    func settle(_ tags: [DeliveryTag], of index: Int) {
        let numbers = tags.compactMap { queues[index].settle($0) }
        guard !numbers.isEmpty else { return }
        connection?.burst { session throws(AMQPError) in
            for number in numbers { try session.acknowledge(number, isMultiple: false) }
        }
    }

    func stopConsuming(_ index: Int) {
        guard queues[index].isWanted else { return }
        guard queues[index].state == .consuming, connection != nil else { return closed(index) }
        queues[index].ends()
        cancel(index)
        loop.schedule(afterNanoseconds: Self.goodbyeNanoseconds) { [weak self] in
            guard let self, queues[index].state == .ending, let connection else { return }
            connection.abandon()
            connectionLost(AMQPError(.timedOut, "the broker does not end a consumer"))
        }
    }

    /// Stops consuming all queues, and ends the connection when their deliveries have gone back.
    func close(whenClosed: @escaping () -> Void) {
        self.whenClosed = whenClosed
        for index in queues.indices { stopConsuming(index) }
        endIfClosed()
    }

    private func cancel(_ index: Int) {
        connection?.burst { session throws(AMQPError) in try session.cancelConsumer(tag: queues[index].tag(index)) }
    }

    private func closed(_ index: Int) {
        queues[index].closed()
        endIfClosed()
    }

    /// Ends the connection when no queue has a consumer any more.
    private func endIfClosed() {
        guard queues.allSatisfy({ $0.state == .closed }) else { return }
        for timer in [connectTimer, checkTimer] { if let timer { loop.cancel(timer) } }
        connection?.close()
        connection = nil
        metrics.ended()
        // What takes the events holds this consumer.
        take = nil
        whenClosed?()
        whenClosed = nil
    }

    // MARK: Connecting

    private func connect() {
        connectTimer = nil
        guard queues.contains(where: \.isWanted) else { return }
        let endpoint = attempts.nextEndpoint()
        do {
            var options = configuration.options(purpose: name)
            options.takesLongHeaders = true
            let session = try AMQPSession(endpoint, options: options)
            let consumed = try queues.indices.filter { try prepare($0, session) }
            // Without waiting for answers from here on: deliveries begin to flow.
            for index in consumed { try start(index, session) }
            connection = try AMQPConnection(session, on: loop, handler: self)
            attempts.succeeded()
            metrics.becameUsable()
            logger.log(
                .info, "outcomes.consumer.started",
                [.field("broker", endpoint.description), .field("connection", name)])
            for index in consumed { consumptionBegan(index) }
            checkLater()
        } catch let error as AMQPError {
            retry(after: error)
        } catch {
            retry(after: AMQPError(.closed, "\(error)"))
        }
    }

    /// Makes a temporary queue, or looks whether a durable one is there and may be read.
    ///
    /// - Returns: whether to consume the queue.
    private func prepare(_ index: Int, _ session: AMQPSession) throws(AMQPError) -> Bool {
        guard queues[index].isWanted, queues[index].refusal == nil else { return false }
        guard let patterns = queues[index].patterns else { return try isThere(index, session) }
        // A name of its own each time: the broker may not have noticed yet that the last connection has ended.
        let queue = "\(configuration.names.outcomes).tail-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        queues[index].name = queue
        try session.declareTemporaryQueue(
            queue,
            arguments: [
                MessageHeader("x-max-length", .int64(Self.temporaryMaximum)),
                MessageHeader("x-overflow", .string("drop-head")),
            ])
        for pattern in patterns {
            try session.bindQueue(queue, exchange: configuration.names.outcomes, routingKey: pattern)
        }
        return true
    }

    private func isThere(_ index: Int, _ session: AMQPSession) throws(AMQPError) -> Bool {
        let queue = queues[index].name
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
        guard queues.contains(where: { $0.refusal?.code == .refused }) else { return false }
        return try !session.mayRead(queue: queue)
    }

    private func start(_ index: Int, _ session: AMQPSession) throws(AMQPError) {
        let queue = queues[index]
        try session.startConsumer(of: queue.name, tag: queue.nextTag(index), prefetch: queue.prefetch)
    }

    private func consumptionBegan(_ index: Int) {
        take?(.changed(.consuming(epoch: queues[index].began()), queue: index))
    }

    /// A queue is not consumed, for a reason that is not the connection's.
    private func interrupted(_ index: Int, _ error: AMQPError) {
        let isQueue = error.code == .refused || queues[index].isNamed(in: error)
        let isNews = queues[index].interrupted(isQueue ? error : nil, nowNanoseconds: loop.nowNanoseconds)
        take?(.changed(error.sourceState, queue: index))
        guard isNews else { return }
        logger.log(
            error.code.logLevel, "outcomes.consumer.interrupted",
            [
                .field("connection", name), .field("queue", queues[index].name),
                .field("cause", error.code.label), .field("reason", error.message),
            ])
    }

    private func retry(after error: AMQPError) {
        metrics.failed(error)
        let delayNanoseconds = attempts.failed()
        logger.log(
            error.code.logLevel, "outcomes.consumer.interrupted",
            [.field("connection", name)] + error.fields(retryNanoseconds: delayNanoseconds))
        for index in queues.indices where queues[index].isWanted {
            queues[index].connectionLost()
            take?(.changed((queues[index].refusal ?? error).sourceState, queue: index))
        }
        connectTimer = loop.schedule(afterNanoseconds: delayNanoseconds) { [weak self] in self?.connect() }
    }

    // MARK: Checks of single queues

    private func checkLater() {
        guard checkTimer == nil else { return }
        checkTimer = loop.schedule(afterNanoseconds: Self.checkNanoseconds) { [weak self] in
            guard let self else { return }
            checkTimer = nil
            guard connection != nil else { return }
            giveBackHeld()
            probeMissing()
            checkLater()
        }
    }

    /// Cancels the consumers of durable queues whose deliveries are held for too long.
    ///
    /// `giveBack` follows, and a new consumer. A temporary queue would go with its consumer.
    private func giveBackHeld() {
        let now = loop.nowNanoseconds
        for index in queues.indices where queues[index].state == .consuming && queues[index].patterns == nil {
            guard let since = queues[index].heldSinceNanoseconds, now >= since &+ Self.heldNanosecondsMaximum else {
                continue
            }
            queues[index].restarts()
            cancel(index)
        }
    }

    /// Consumes the queues again that a probe has found, and probes the others.
    private func probeMissing() {
        if let probe, let found = probe.found {
            self.probe = nil
            for (index, isThere) in zip(probe.indices, found) where isThere && queues[index].state == .interrupted {
                queues[index].refusal = nil
                startAgain(index)
            }
        }
        let now = loop.nowNanoseconds
        let missing = queues.indices.filter { index in
            queues[index].state == .interrupted && now >= queues[index].notBeforeNanoseconds
        }
        guard !missing.isEmpty, probe == nil else { return }
        probe = OutcomeQueueProbe(missing, missing.map { queues[$0].name }, configuration)
    }

    private func startAgain(_ index: Int) {
        let isStarted = connection?.burst { session throws(AMQPError) in try start(index, session) } ?? false
        if isStarted { consumptionBegan(index) }
    }
}

extension OutcomeConsumerCore: AMQPConnectionHandler {
    func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
        let now = loop.nowNanoseconds
        // Nearly always one run for each queue.
        for (tag, run) in Dictionary(grouping: deliveries, by: \.consumerTag) {
            guard let index = index(ofConsumer: tag) else { continue }
            let received = run.map { delivery in
                Delivery(
                    tag: queues[index].received(delivery.number, nowNanoseconds: now), deliveryClass: .interactive,
                    isRedelivered: delivery.isRedelivered, exchange: delivery.exchange,
                    routingKey: delivery.routingKey, message: Message(delivery))
            }
            take?(.received(received, queue: index))
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
        guard let index = tag.split(separator: ".").first.flatMap({ Int($0) }), queues.indices.contains(index),
            queues[index].tag(index) == tag
        else { return nil }
        return index
    }

    /// The broker ended a consumer.
    ///
    /// Its deliveries are given back, also if the queue is gone. Otherwise the broker would miss an answer half an hour
    /// later, and close the channel of all queues.
    private func consumerEnded(_ index: Int) {
        giveBackDeliveries(of: index)
        guard queues[index].isWanted else { return closed(index) }
        let error = AMQPError.brokerEndedConsumer(of: queues[index].name)
        guard queues[index].patterns != nil else { return interrupted(index, error) }
        // The connection may have ended while deliveries were given back.
        guard let connection else { return }
        // Only a new connection makes a temporary queue again.
        connection.close()
        connectionLost(error)
    }

    /// A consumer has ended at our own wish: what it brought goes back to its queue.
    private func giveBack(_ index: Int) {
        giveBackDeliveries(of: index)
        switch queues[index].state {
        case .restarting: startAgain(index)
        case .ending: closed(index)
        // The broker ended the consumer before, or the connection has ended since.
        case .interrupted, .consuming, .closed: break
        }
    }

    private func giveBackDeliveries(of index: Int) {
        let numbers = queues[index].takeHeld()
        connection?.burst { session throws(AMQPError) in
            for number in numbers { try session.giveBack(number) }
        }
    }

    func connectionLost(_ error: AMQPError) {
        connection = nil
        for index in queues.indices {
            _ = queues[index].takeHeld()
            // It is the queue that is in trouble, and the others go on without it: the user may not read it, or it has
            // no leader (541, "timed out consuming from quorum queue").
            if queues[index].isWanted, queues[index].isNamed(in: error) { interrupted(index, error) }
        }
        if queues.contains(where: \.isWanted) { retry(after: error) }
        for index in queues.indices where queues[index].state == .ending { closed(index) }
    }
}

/// One probe whether queues are there and may be read.
///
/// It has a connection of its own, because the broker closes the channel of a request for a missing queue. The loop of
/// the consumers takes the result later.
private final class OutcomeQueueProbe: Sendable {
    /// The indices of the queues.
    let indices: [Int]
    private let result = Mutex<[Bool]?>(nil)

    init(_ indices: [Int], _ names: [String], _ configuration: BrokerConfiguration) {
        self.indices = indices
        Task {
            let found = try? await configuration.withSession(purpose: "probe") { session in
                try names.map { queue in
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

    /// Whether each queue is there; nil as long as the broker has not answered, empty if it cannot be reached.
    var found: [Bool]? { result.withLock { $0 } }
}
