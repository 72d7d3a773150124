/// Why an event was not published: the problem, its location and the remedy; without passwords.
public struct PublisherError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Hashable, Sendable {
        /// An address, a file or a limit of the configuration cannot be used.
        case configurationInvalid
        /// RabbitMQ refuses the user, the password or the certificate, or cannot be reached: only of
        /// `EventPublisher.checkConnection()`.
        case connectionFailed
        /// A worker would make a dead letter of the event. Nothing was published.
        case eventInvalid
        /// No queue took the event until the time ended (`basic.return`, a missing exchange, a missing permission).
        case unroutable
        /// RabbitMQ refused the event until the time ended (`basic.nack`): a queue is full, or has lost its leader.
        case refused
        /// RabbitMQ will never take the event, for example because it is larger than its `max_message_size`.
        case rejected
        /// RabbitMQ did not confirm the event in time. It may have it, or may still get it.
        case timedOut
        /// The task was cancelled. RabbitMQ may have the event, or may still get it.
        case cancelled
        /// The publisher was closed before RabbitMQ confirmed the event. RabbitMQ may have it.
        case closed
        /// The operating system gave no thread or no descriptor.
        case systemFailed
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy; never a password.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same event may be confirmed when it is published again later, with the same `id`.
    public var isTemporary: Bool {
        switch code {
        case .connectionFailed, .unroutable, .refused, .timedOut, .cancelled, .closed, .systemFailed: true
        case .configurationInvalid, .eventInvalid, .rejected: false
        }
    }

    /// The message.
    public var description: String { message }
}

/// The result of publishing an event.
public enum PublishResult: Hashable, Sendable {
    /// RabbitMQ has it, on disk.
    case confirmed
    /// RabbitMQ has not confirmed it.
    case failed(PublisherError)

    /// Whether RabbitMQ has it.
    public var isConfirmed: Bool { self == .confirmed }
}
