/// Why something with the broker did not work.
public struct AMQPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, CaseIterable, Sendable {
        /// The broker refused the user, the password or the permission (403, or 530 for a virtual host).
        case refused
        /// No server answered at that address.
        case unreachable
        /// An exchange, a queue or a virtual host is not there (404).
        case missing
        /// An exchange or a queue exists with other properties, or a message breaks a rule of the broker (406).
        case different
        /// A queue belongs to another connection alone (405).
        case locked
        /// The TLS handshake failed, or the certificate is not the right one.
        case tlsFailed
        /// The other side violates AMQP.
        case protocolViolation
        /// The broker is connected and does not answer, or takes no bytes.
        case timedOut
        /// The connection ended.
        case closed
        /// The broker ended a consumer: its queue was deleted, or a delivery was held for longer than
        /// `consumer_timeout`.
        case consumerEnded
        /// An address, a name or a message that AMQP cannot express; nothing was sent.
        case invalid
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy; never a password.
    public let message: String
    /// Whether the broker closed the channel because of a publish: the exchange is missing, or the message breaks a
    /// rule.
    public let isCausedByPublish: Bool

    /// Whether publishing the same message again changes nothing: AMQP cannot express it, or it breaks a broker's rule.
    ///
    /// A missing exchange can be made, and a permission be given.
    public var refusesForGood: Bool { code == .invalid || isCausedByPublish && code == .different }

    /// Creates an error.
    public init(_ code: Code, _ message: String, isCausedByPublish: Bool = false) {
        self.code = code
        self.message = message
        self.isCausedByPublish = isCausedByPublish
    }

    /// The message.
    public var description: String { message }
}
