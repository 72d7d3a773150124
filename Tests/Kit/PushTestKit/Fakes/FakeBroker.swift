public import ChangeEvents
public import Messages

/// A broker in memory for tests of the pipeline: one work queue, and requeued messages by queue name.
///
/// It keeps RabbitMQ's promises and no more: unacknowledged messages are kept, a confirm comes after the message is
/// stored, and a message for a missing queue is returned. A test asks for deliveries, so it decides which ones wait
/// together.
public final class FakeBroker: DeliverySource, MessagePublisher {
    private let state = Watched(FakeBrokerState())

    /// Creates an empty broker.
    public init() {}

    // MARK: For tests

    /// Delivers messages as one batch.
    ///
    /// - Parameters:
    ///   - messages: the messages.
    ///   - deliveryClass: their class.
    ///   - isRedelivered: whether they may have been delivered before.
    ///   - exchange: the exchange of the publish; by default that of chunks, or of backends' events.
    /// - Returns: their tags.
    @discardableResult
    public func deliver(
        _ messages: [Message], deliveryClass: DeliveryClass = .interactive, isRedelivered: Bool = false,
        exchange: String? = nil
    ) -> [DeliveryTag] {
        let exchange = exchange ?? (deliveryClass == .bulk ? "" : "apus.changes")
        let (handler, deliveries) = state.update { state in
            let deliveries = messages.map { message in
                defer { state.nextTag += 1 }
                let tag = DeliveryTag(epoch: state.epoch, number: state.nextTag)
                let delivery = Delivery(
                    tag: tag, deliveryClass: deliveryClass, isRedelivered: isRedelivered, exchange: exchange,
                    routingKey: "test",
                    message: message)
                state.unacknowledged[tag] = delivery
                return delivery
            }
            guard let handler = state.deliveryHandler, !state.isPaused else {
                state.early += deliveries
                return (nil as (any DeliveryHandler)?, deliveries)
            }
            return (handler, deliveries)
        }
        handler?.deliveriesReceived(deliveries)
        return deliveries.map(\.tag)
    }

    /// Takes the requeued messages of a queue and delivers them again, as a retry queue does when their time has come,
    /// and the fan-out queue at once.
    @discardableResult
    public func deliverQueued(in queue: String) -> [DeliveryTag] {
        deliver(
            state.update { $0.requeuedByQueue.removeValue(forKey: queue) ?? [] },
            deliveryClass: queue.hasSuffix(".fanout") ? .bulk : .interactive, exchange: "")
    }

    /// Loses the connection, consumes again at once, and redelivers unacknowledged messages.
    public func reconnect() {
        let (handler, epoch, again) = state.update { state in
            let again = state.unacknowledged.values.sorted { $0.tag.number < $1.tag.number }
            state.unacknowledged = [:]
            state.epoch += 1
            return (state.deliveryHandler, state.epoch, again)
        }
        handler?.sourceStateChanged(.interrupted(reason: "the test wants it"))
        handler?.sourceStateChanged(.consuming(epoch: epoch))
        for delivery in again {
            deliver(
                [delivery.message], deliveryClass: delivery.deliveryClass, isRedelivered: true,
                exchange: delivery.exchange)
        }
    }

    /// The messages that are requeued in a queue.
    public func requeued(in queue: String) -> [Message] { state.read { $0.requeued(in: queue) } }

    /// Whether anyone consumes.
    public var isConsuming: Bool { state.read(\.isConsuming) }

    /// Whether the consumer has paused.
    public var isPaused: Bool { state.read(\.isPaused) }

    /// How often the consumer has paused.
    public var pauseCount: Int { state.read(\.pauseCount) }

    /// The messages that wait for a consumer.
    public var backlogCount: Int { state.read(\.backlogCount) }

    /// How many deliveries have not been acknowledged.
    public var unacknowledgedCount: Int { state.read(\.unacknowledgedCount) }

    /// The acknowledged tags, in order.
    public var settledTags: [DeliveryTag] { state.read(\.settledTags) }

    /// From now on this queue does not exist, or does again.
    public func setMissing(_ isMissing: Bool, queue: String) {
        state.update { state in
            if isMissing { state.missingQueues.insert(queue) } else { state.missingQueues.remove(queue) }
        }
    }

    /// The messages that were rejected, in order.
    public var rejectedMessages: [Message] { state.read(\.rejectedMessages) }

    /// From now on the broker refuses every publish to this queue, as if it were too large.
    public func setRejecting(queue: String) {
        state.update { _ = $0.rejectingQueues.insert(queue) }
    }

    /// Waits until a condition holds.
    ///
    /// - Parameter condition: checks the broker's state at every change.
    /// - Returns: whether it came true within twenty minutes: that long only if it never will.
    @discardableResult
    public func wait(until condition: @escaping @Sendable (FakeBrokerState) -> Bool) async -> Bool {
        await state.wait(deadlineSeconds: 300, until: condition)
    }

    // MARK: DeliverySource

    /// Remembers the handler and says that it consumes.
    public func start(handler: any DeliveryHandler) {
        let early = state.update { state in
            state.deliveryHandler = handler
            defer { state.early = [] }
            return state.early
        }
        handler.sourceStateChanged(.consuming(epoch: 1))
        if !early.isEmpty { handler.deliveriesReceived(early) }
    }

    /// Acknowledges; a tag twice, or an unknown one, is a fault that a test sees in `settledTags`.
    public func settle(_ tags: [DeliveryTag]) {
        state.update { state in
            for tag in tags { state.unacknowledged[tag] = nil }
            state.settledTags += tags
        }
    }

    /// Takes the messages from the queue; a tag twice, or an unknown one, rejects nothing.
    public func reject(_ tags: [DeliveryTag]) {
        state.update { state in
            for tag in tags {
                if let delivery = state.unacknowledged.removeValue(forKey: tag) {
                    state.rejectedMessages.append(delivery.message)
                }
            }
        }
    }

    /// Keeps deliveries from now on.
    public func pause() {
        state.update { state in
            state.isPaused = true
            state.pauseCount += 1
        }
    }

    /// Delivers the kept messages.
    public func resume() {
        let (handler, early) = state.update { state in
            state.isPaused = false
            defer { state.early = [] }
            return (state.deliveryHandler, state.early)
        }
        if !early.isEmpty { handler?.deliveriesReceived(early) }
    }

    /// Delivers nothing more.
    public func cancel() async {
        state.read(\.deliveryHandler)?.sourceStateChanged(.cancelled)
    }

    /// Does nothing: there is no connection.
    public func close() async {}

    // MARK: MessagePublisher

    /// Remembers the handler and says that it is ready.
    public func start(handler: any PublishHandler) {
        state.update { $0.publishHandler = handler }
        handler.publisherStateChanged(isReady: true, reason: "")
    }

    /// Stores and confirms, or returns.
    public func publish(_ messages: [OutgoingMessage]) {
        let (handler, outcomes) = state.update { state in
            let outcomes = messages.map { message -> (identifier: UInt64, outcome: PublishOutcome) in
                if state.missingQueues.contains(message.routingKey) {
                    return (message.identifier, .returned("NO_ROUTE"))
                }
                if state.rejectingQueues.contains(message.routingKey) {
                    return (message.identifier, .rejected("PRECONDITION_FAILED"))
                }
                state.requeuedByQueue[message.routingKey, default: []].append(message.message)
                return (message.identifier, .confirmed)
            }
            return (state.publishHandler, outcomes)
        }
        handler?.publishesEnded(outcomes)
    }

    /// Everything was confirmed at once already.
    public func close(deadlineSeconds: Double) async -> Bool { true }
}

/// The state of a broker in memory at one moment.
public struct FakeBrokerState: Sendable {
    var deliveryHandler: (any DeliveryHandler)?
    var publishHandler: (any PublishHandler)?
    /// Messages that were published without a consumer.
    var early: [Delivery] = []
    var unacknowledged: [DeliveryTag: Delivery] = [:]
    var requeuedByQueue: [String: [Message]] = [:]
    var missingQueues: Set<String> = []
    var rejectingQueues: Set<String> = []
    var nextTag: UInt64 = 1
    var epoch: UInt32 = 1

    /// The acknowledged tags, in order.
    public internal(set) var settledTags: [DeliveryTag] = []

    /// The messages that were rejected, in order.
    public internal(set) var rejectedMessages: [Message] = []

    /// Whether the consumer has paused.
    public internal(set) var isPaused = false

    /// How often the consumer has paused.
    public internal(set) var pauseCount = 0

    /// Whether anyone consumes.
    public var isConsuming: Bool { deliveryHandler != nil }

    /// The messages that wait for a consumer.
    public var backlogCount: Int { early.count }

    /// How many deliveries have not been acknowledged.
    public var unacknowledgedCount: Int { unacknowledged.count }

    /// The messages that are requeued in a queue.
    public func requeued(in queue: String) -> [Message] { requeuedByQueue[queue] ?? [] }
}
