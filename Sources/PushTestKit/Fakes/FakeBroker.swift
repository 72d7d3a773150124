public import PushCore
import Synchronization

/// A broker in memory for tests of the pipeline: one work queue, and parked messages by queue name.
///
/// It keeps RabbitMQ's promises and no more: what is not acknowledged is still there, a confirm comes after the message
/// is stored, and a message for a queue that does not exist is returned. Deliveries are handed out when a test asks for
/// them, so a test decides what waits together.
public final class FakeBroker: DeliverySource, MessagePublisher {
    private struct State {
        var deliveryHandler: (any DeliveryHandler)?
        var publishHandler: (any PublishHandler)?
        /// Published while nobody consumed.
        var early: [Delivery] = []
        var unacknowledged: [DeliveryTag: Message] = [:]
        var settled: [DeliveryTag] = []
        var parked: [String: [Message]] = [:]
        var missingQueues: Set<String> = []
        var nextTag: UInt64 = 1
        var isCancelled = false
        var isPaused = false
        var pauseCount = 0
        var waiters: [(condition: @Sendable (FakeBroker) -> Bool, resume: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    /// Creates an empty broker.
    public init() {}

    // MARK: For tests

    /// Delivers messages as one batch.
    ///
    /// - Returns: their tags.
    @discardableResult
    public func deliver(
        _ messages: [Message], lane: DeliveryLane = .work, isRedelivered: Bool = false
    ) -> [DeliveryTag] {
        let (handler, deliveries) = state.withLock { state in
            let deliveries = messages.map { message in
                defer { state.nextTag += 1 }
                let tag = DeliveryTag(epoch: 1, number: state.nextTag)
                state.unacknowledged[tag] = message
                return Delivery(
                    tag: tag, lane: lane, isRedelivered: isRedelivered, exchange: "apus.changes", routingKey: "test",
                    message: message)
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

    /// Takes the parked messages of a queue and delivers them again, as a retry queue does when their time has come,
    /// and the fan-out queue at once.
    @discardableResult
    public func deliverParked(in queue: String) -> [DeliveryTag] {
        deliver(
            state.withLock { $0.parked.removeValue(forKey: queue) ?? [] },
            lane: queue.hasSuffix(".fanout") ? .fanout : .work)
    }

    /// The messages that are parked in a queue.
    public func parked(in queue: String) -> [Message] { state.withLock { $0.parked[queue] ?? [] } }

    /// Whether anyone consumes.
    public var isConsuming: Bool { state.withLock { $0.deliveryHandler != nil } }

    /// Whether the consumer has paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// How often the consumer has paused.
    public var pauseCount: Int { state.withLock { $0.pauseCount } }

    /// How many messages wait because nobody consumes.
    public var backlogCount: Int { state.withLock { $0.early.count } }

    /// How many deliveries have not been acknowledged.
    public var unacknowledgedCount: Int { state.withLock { $0.unacknowledged.count } }

    /// The acknowledged tags, in order.
    public var settledTags: [DeliveryTag] { state.withLock { $0.settled } }

    /// From now on this queue does not exist, or does again.
    public func setMissing(_ isMissing: Bool, queue: String) {
        state.withLock { state in
            if isMissing { state.missingQueues.insert(queue) } else { state.missingQueues.remove(queue) }
        }
    }

    /// Waits until a condition holds; it is looked at whenever something was settled or parked.
    public func wait(until condition: @escaping @Sendable (FakeBroker) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append((condition, { continuation.resume() })) }
            wakeWaiters()
        }
    }

    private func wakeWaiters() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters {
            if waiter.condition(self) {
                waiter.resume()
            } else {
                state.withLock { $0.waiters.append(waiter) }
            }
        }
    }

    // MARK: DeliverySource

    /// Remembers the handler and says that it consumes.
    public func start(handler: any DeliveryHandler) {
        let early = state.withLock { state in
            state.deliveryHandler = handler
            defer { state.early = [] }
            return state.early
        }
        handler.sourceStateChanged(.consuming(epoch: 1))
        if !early.isEmpty { handler.deliveriesReceived(early) }
    }

    /// Acknowledges; a tag twice, or an unknown one, is a fault that a test sees in `settledTags`.
    public func settle(_ tags: [DeliveryTag]) {
        state.withLock { state in
            for tag in tags { state.unacknowledged[tag] = nil }
            state.settled += tags
        }
        wakeWaiters()
    }

    /// Keeps what is delivered from now on.
    public func pause() {
        state.withLock { state in
            state.isPaused = true
            state.pauseCount += 1
        }
        wakeWaiters()
    }

    /// Delivers what was kept.
    public func resume() {
        let (handler, early) = state.withLock { state in
            state.isPaused = false
            defer { state.early = [] }
            return (state.deliveryHandler, state.early)
        }
        if !early.isEmpty { handler?.deliveriesReceived(early) }
        wakeWaiters()
    }

    /// Delivers nothing more.
    public func cancel() async {
        let handler = state.withLock { state in
            state.isCancelled = true
            return state.deliveryHandler
        }
        handler?.sourceStateChanged(.cancelled)
    }

    /// Does nothing: there is no connection.
    public func close() async {}

    // MARK: MessagePublisher

    /// Remembers the handler and says that it is ready.
    public func start(handler: any PublishHandler) {
        state.withLock { $0.publishHandler = handler }
        handler.publisherStateChanged(isReady: true, reason: "")
    }

    /// Stores and confirms, or returns.
    public func publish(_ messages: [OutgoingMessage]) {
        let (handler, outcomes) = state.withLock { state in
            let outcomes = messages.map { message -> (identifier: UInt64, outcome: PublishOutcome) in
                if state.missingQueues.contains(message.routingKey) {
                    return (message.identifier, .returned("NO_ROUTE"))
                }
                state.parked[message.routingKey, default: []].append(message.message)
                return (message.identifier, .confirmed)
            }
            return (state.publishHandler, outcomes)
        }
        handler?.publishesEnded(outcomes)
        wakeWaiters()
    }

    /// Everything was confirmed at once already.
    public func close(deadlineSeconds: Double) async -> Bool { true }
}
