import PushCore
import Synchronization

/// A broker and a push service in memory that cost next to nothing, so that what is measured is the pipeline.
///
/// Everything is handed over in batches as large as a read from a socket gives them, and every push is accepted at
/// once.
final class InstantAdapters: DeliverySource, MessagePublisher, PushTransport {
    private struct State {
        var messages: [Message]
        var deliveryHandler: (any DeliveryHandler)?
        var publishHandler: (any PublishHandler)?
        var transportHandler: (any PushTransportHandler)?
        var settledCount = 0
        var next = 0
        var start = Start(microseconds: 0, allocations: 0)
    }

    /// What this process had spent when the first message was asked for.
    struct Start {
        var microseconds: Double
        var allocations: UInt64
    }

    private static let window = 1_000
    private static let batch = 100

    private let whenSettled: @Sendable () -> Void
    private let state: Mutex<State>

    /// Serves these messages, with the default prefetch.
    init(messages: [Message], whenSettled: @escaping @Sendable () -> Void) {
        state = Mutex(State(messages: messages))
        self.whenSettled = whenSettled
    }

    /// What had been spent before the first message.
    var start: Start { state.withLock { $0.start } }

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
                    Delivery(
                        tag: DeliveryTag(epoch: 1, number: UInt64(index + 1)), lane: .work, isRedelivered: false,
                        exchange: "apus.changes", routingKey: "benchmark", message: state.messages[index])
                }
                state.next = end
                return (state.deliveryHandler, deliveries)
            }
            if deliveries.isEmpty { break }
            handler?.deliveriesReceived(deliveries)
        }
    }

    func settle(_ tags: [DeliveryTag]) {
        let isDone = state.withLock { state in
            state.settledCount += tags.count
            return state.settledCount == state.messages.count
        }
        if isDone { whenSettled() } else { deliver() }
    }

    func pause() {}

    func resume() {}

    func cancel() async {}

    func close() async {}

    // MARK: MessagePublisher

    func start(handler: any PublishHandler) {
        state.withLock { $0.publishHandler = handler }
        handler.publisherStateChanged(isReady: true, reason: "")
    }

    /// Confirms at once; what is published is the next page of a fan-out, and comes back as a delivery.
    func publish(_ messages: [OutgoingMessage]) {
        let handler = state.withLock { state in
            state.messages += messages.map(\.message)
            return state.publishHandler
        }
        handler?.publishesEnded(messages.map { ($0.identifier, .confirmed) })
        deliver()
    }

    func close(deadlineSeconds: Double) async -> Bool { true }

    // MARK: PushTransport

    func start(handler: any PushTransportHandler) { state.withLock { $0.transportHandler = handler } }

    func send(_ requests: [PushRequest]) {
        let handler = state.withLock { $0.transportHandler }
        handler?.pushesEnded(
            requests.map {
                PushResult(
                    identifier: $0.identifier, outcome: .answered(PushAnswer(status: 200)), durationNanoseconds: 1_000)
            })
    }
}
