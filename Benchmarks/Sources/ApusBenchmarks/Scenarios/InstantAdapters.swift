import ChangeEvents
import Messages
import Notifications
import Synchronization

/// A broker and a push service in memory that cost next to nothing, so that what is measured is the pipeline.
///
/// Everything is handed over in batches as large as a read from a socket gives them, and every push is accepted at
/// once.
final class InstantAdapters: DeliverySource, MessagePublisher, PushTransport {
    private struct State {
        var messages: [(message: Message, deliveryClass: DeliveryClass)]
        var deliveryHandler: (any DeliveryHandler)?
        var publishHandler: (any PublishHandler)?
        var transportHandler: (any PushTransportHandler)?
        var settledCount = 0
        var next = 0
        var pushCount = 0
        var strayCount = 0
        var start = Start(microseconds: 0, allocations: 0)
    }

    /// The resources that this process had spent when the first message was asked for.
    struct Start {
        var microseconds: Double
        var allocations: UInt64
    }

    static let fanOutQueue = "apus.fanout"
    private static let window = 1_000
    private static let batch = 100

    private let whenSettled: @Sendable () -> Void
    private let state: Mutex<State>

    /// Serves these messages, with the default prefetch.
    init(messages: [Message], whenSettled: @escaping @Sendable () -> Void) {
        state = Mutex(State(messages: messages.map { ($0, .interactive) }))
        self.whenSettled = whenSettled
    }

    /// The resources that had been spent before the first message.
    var start: Start { state.withLock { $0.start } }

    /// How many pushes were sent.
    var pushCount: Int { state.withLock { $0.pushCount } }
    /// How many messages were published that are no chunk of a large fan-out: retries and dead letters.
    var strayCount: Int { state.withLock { $0.strayCount } }

    // MARK: DeliverySource

    func start(handler: any DeliveryHandler) {
        let start = Start(microseconds: ProcessorTime.ownMicroseconds(), allocations: Allocations.count ?? 0)
        state.withLock { state in
            state.deliveryHandler = handler
            state.start = start
        }
        handler.sourceStateChanged(.consuming(epoch: 1))
        deliver()
    }

    /// Gives out what the window has room for.
    private func deliver() {
        while true {
            let (handler, deliveries) = state.withLock { state in
                let end = min(state.messages.count, state.settledCount + Self.window, state.next + Self.batch)
                let deliveries = (state.next..<end).map { index in
                    let (message, deliveryClass) = state.messages[index]
                    return Delivery(
                        tag: DeliveryTag(epoch: 1, number: UInt64(index + 1)), deliveryClass: deliveryClass,
                        isRedelivered: false,
                        exchange: deliveryClass == .interactive ? "apus.changes" : "", routingKey: "benchmark",
                        message: message)
                }
                state.next = end
                return (state.deliveryHandler, deliveries)
            }
            if deliveries.isEmpty { break }
            // As from the broker, where each queue has a consumer of its own.
            for deliveryClass in [DeliveryClass.interactive, .bulk] {
                let ofClass = deliveries.filter { $0.deliveryClass == deliveryClass }
                if !ofClass.isEmpty { handler?.deliveriesReceived(ofClass) }
            }
        }
    }

    func settle(_ tags: [DeliveryTag]) {
        let isDone = state.withLock { state in
            state.settledCount += tags.count
            return state.settledCount == state.messages.count
        }
        if isDone { whenSettled() } else { deliver() }
    }

    func reject(_ tags: [DeliveryTag]) { settle(tags) }

    func pause() {}

    func resume() {}

    func cancel() async {}

    func close() async {}

    // MARK: MessagePublisher

    func start(handler: any PublishHandler) {
        state.withLock { $0.publishHandler = handler }
        handler.publisherStateChanged(isReady: true, reason: "")
    }

    /// Confirms at once; what is published to the fan-out queue comes back as a delivery of that queue.
    func publish(_ messages: [OutgoingMessage]) {
        let handler = state.withLock { state in
            let chunks = messages.filter { $0.routingKey == Self.fanOutQueue }
            state.messages += chunks.map { ($0.message, .bulk) }
            state.strayCount += messages.count - chunks.count
            return state.publishHandler
        }
        handler?.publishesEnded(messages.map { ($0.identifier, .confirmed) })
        deliver()
    }

    func close(deadlineSeconds: Double) async -> Bool { true }

    // MARK: PushTransport

    func start(handler: any PushTransportHandler) { state.withLock { $0.transportHandler = handler } }

    func send(_ requests: [PushRequest]) {
        let handler = state.withLock { state in
            state.pushCount += requests.count
            return state.transportHandler
        }
        handler?.pushesEnded(
            requests.map {
                AttemptResult(
                    identifier: $0.identifier, outcome: .answered(PushAnswer(status: 200)), durationNanoseconds: 1_000)
            })
    }
}
