public import Notifications
internal import Synchronization

/// The gate of a transport with a loop of its own: it starts once, and after its end it sends nothing.
public final class TransportGate: Sendable {
    private struct State {
        var handler: (any PushTransportHandler)?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Creates the gate of a transport that was not started.
    public init() {}

    /// Notes the handler, unless the transport was started or closed before.
    ///
    /// - Parameters:
    ///   - handler: takes results.
    ///   - begin: begins the work; called before `start` of anybody else returns.
    public func start(handler: any PushTransportHandler, _ begin: () -> Void) {
        state.withLock { state in
            guard state.handler == nil, !state.isClosed else { return }
            state.handler = handler
            begin()
        }
    }

    /// Passes pushes on; after `close` they end at once as not processed, on the caller's thread.
    ///
    /// - Parameters:
    ///   - requests: the pushes.
    ///   - pass: hands them to the transport's loop; called before `close` can return.
    public func send(_ requests: [PushRequest], _ pass: () -> Void) {
        guard !requests.isEmpty else { return }
        let handler = state.withLock { state -> (any PushTransportHandler)? in
            guard state.isClosed else {
                pass()
                return nil
            }
            return state.handler
        }
        handler?.pushesEnded(
            requests.map {
                AttemptResult(
                    identifier: $0.identifier, outcome: .notProcessed("the transport is closed"),
                    durationNanoseconds: 0)
            })
    }

    /// Lets nothing through any more.
    ///
    /// - Returns: whether this is the first call, whose caller has to end the transport.
    public func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }
}
