public import ChangeEvents

/// A publisher whose outcomes the test decides; it answers at once, on the caller's thread, or when the test says.
public final class StubPublisher: MessagePublisher {
    private struct State: Sendable {
        var handler: (any PublishHandler)?
        var isReady: Bool
        var callCount = 0
        var held: [UInt64] = []
    }

    /// All that was published, in order.
    public let published = Watched<[OutgoingMessage]>([])
    private let state: Watched<State>
    private let outcome: @Sendable (_ call: Int) -> PublishOutcome?

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - isReady: whether it has a connection from the start.
    ///   - outcome: decides by the number of the call, from 1; nil waits for `end(_:)`.
    public init(
        isReady: Bool = true, outcome: @escaping @Sendable (_ call: Int) -> PublishOutcome? = { _ in .confirmed }
    ) {
        state = Watched(State(isReady: isReady))
        self.outcome = outcome
    }

    /// Remembers the handler, and tells it whether there is a connection.
    public func start(handler: any PublishHandler) {
        let isReady = state.update { state in
            state.handler = handler
            return state.isReady
        }
        handler.publisherStateChanged(isReady: isReady, reason: isReady ? "" : "no connection")
    }

    /// Gains or loses the connection.
    public func become(ready isReady: Bool) {
        let handler = state.update { state in
            state.isReady = isReady
            return state.handler
        }
        handler?.publisherStateChanged(isReady: isReady, reason: isReady ? "" : "no connection")
    }

    /// Takes the messages, and ends them as the test decides.
    public func publish(_ messages: [OutgoingMessage]) {
        let (handler, outcome) = state.update { state in
            state.callCount += 1
            let outcome = self.outcome(state.callCount)
            if outcome == nil { state.held += messages.map(\.identifier) }
            return (state.handler, outcome)
        }
        if let outcome { handler?.publishesEnded(messages.map { ($0.identifier, outcome) }) }
        published.update { $0 += messages }
    }

    /// Ends all messages that wait.
    public func end(_ outcome: PublishOutcome) {
        let (handler, held) = state.update { state in
            defer { state.held = [] }
            return (state.handler, state.held)
        }
        handler?.publishesEnded(held.map { ($0, outcome) })
    }

    /// Says that all is done.
    public func close(deadlineSeconds: Double) async -> Bool { true }
}
