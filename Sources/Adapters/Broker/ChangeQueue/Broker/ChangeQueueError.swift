import AMQP

/// Why something with the queue did not work.
public struct ChangeQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, CaseIterable, Sendable {
        /// The broker refused the user, the password or the permission.
        case refused
        /// The broker cannot be reached, does not answer, or the connection was lost.
        case unavailable
        /// An exchange, a queue, a virtual host or a message is not there.
        case missing
        /// An exchange or a queue exists with other properties.
        case different
        /// The TLS handshake failed, or the certificate is not the right one.
        case tlsFailed
        /// An address, a name or a message that the broker's protocol cannot express.
        case invalid
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy; never a password.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: AMQPError) {
        message = error.message
        code =
            switch error.code {
            case .refused: .refused
            case .unreachable, .timedOut, .closed, .consumerEnded, .locked, .protocolViolation: .unavailable
            case .missing: .missing
            case .different: .different
            case .tlsFailed: .tlsFailed
            case .invalid: .invalid
            }
    }

    /// The message.
    public var description: String { message }
}

extension AMQPError {
    /// The broker ended a consumer by itself; a new connection finds out why, and reports a missing queue.
    static func brokerEndedConsumer(of queue: String) -> AMQPError {
        AMQPError(
            .consumerEnded,
            "the broker ended the consumer of \(queue): the queue was deleted, or a delivery was held for longer than "
                + "its consumer_timeout")
    }
}
