/// What the shell of a `ConnectionPool` has to do after an event.
public enum PoolAction: Hashable, Sendable {
    /// Connect, and report `connectionReady` or `connectionLost` under this number.
    case connect(connection: Int)
    /// Close the connection with a GOAWAY: nothing is in flight on it.
    case close(connection: Int)
    /// Drop the connection: it did not become ready in time, or does not answer.
    case abandon(connection: Int)
    /// Send a PING.
    case ping(connection: Int)
    /// Reset the stream with CANCEL: its push has ended.
    case cancel(connection: Int, stream: Int32)
    /// The push ended without an answer. The pool has forgotten it; its slot may be reused by the next arrival.
    case end(push: Int, PushEnding)
}
