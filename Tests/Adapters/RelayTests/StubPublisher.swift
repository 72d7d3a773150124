import ChangeEvents
import Messages
import PushTestKit

/// A publisher whose outcomes the test decides; it answers at once, on the caller's thread.
final class StubPublisher: MessagePublisher {
    private struct State: Sendable {
        var handler: (any PublishHandler)?
        var isReady: Bool
        var callCount = 0
    }

    /// All that was published, in order.
    let published = Watched<[OutgoingMessage]>([])
    private let state: Watched<State>
    private let outcome: @Sendable (_ call: Int) -> PublishOutcome

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - isReady: whether it has a connection from the start.
    ///   - outcome: decides by the number of the call, from 1.
    init(isReady: Bool = true, outcome: @escaping @Sendable (_ call: Int) -> PublishOutcome = { _ in .confirmed }) {
        state = Watched(State(isReady: isReady))
        self.outcome = outcome
    }

    func start(handler: any PublishHandler) {
        let isReady = state.update { state in
            state.handler = handler
            return state.isReady
        }
        handler.publisherStateChanged(isReady: isReady, reason: isReady ? "" : "no connection")
    }

    func becomeReady() {
        let handler = state.update { state in
            state.isReady = true
            return state.handler
        }
        handler?.publisherStateChanged(isReady: true, reason: "")
    }

    func publish(_ messages: [OutgoingMessage]) {
        let (handler, call) = state.update { state in
            state.callCount += 1
            return (state.handler, state.callCount)
        }
        handler?.publishesEnded(messages.map { ($0.identifier, outcome(call)) })
        published.update { $0 += messages }
    }

    func close(deadlineSeconds: Double) async -> Bool { true }
}

/// The identifiers of the events that came from a queue.
final class IdentifierLog: DeliveryHandler {
    let identifiers = Watched<Set<String>>([])
    private let settle: @Sendable ([DeliveryTag]) -> Void

    init(settle: @escaping @Sendable ([DeliveryTag]) -> Void) { self.settle = settle }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        settle(deliveries.map(\.tag))
        identifiers.update { $0.formUnion(deliveries.compactMap(\.message.properties.messageID)) }
    }

    func sourceStateChanged(_ newState: DeliverySourceState) {}
}
