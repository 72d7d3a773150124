public import Messages

/// A message that must reach a queue: it counts as requeued only when the broker has confirmed it.
public struct OutgoingMessage: Sendable {
    /// The sender's own number, given back with the outcome.
    public var identifier: UInt64
    /// The exchange; empty for the default exchange, which routes by queue name.
    public var exchange: String
    /// The routing key, or the name of the queue.
    public var routingKey: String
    /// The message to publish; always published as persistent.
    public var message: Message
    /// Whether it may reach no queue at all, and is not published again by itself if the broker refuses it.
    ///
    /// All others are published as mandatory.
    public var isOptional: Bool

    /// Creates an outgoing message.
    public init(
        identifier: UInt64, exchange: String, routingKey: String, message: Message, isOptional: Bool = false
    ) {
        self.identifier = identifier
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
        self.isOptional = isOptional
    }
}

/// How a publish ended.
public enum PublishOutcome: Hashable, Sendable {
    /// The broker has it, on disk.
    case confirmed
    /// No queue took it (`basic.return`), with the broker's text; the message is still ours.
    case returned(String)
    /// The broker refused it (`basic.nack`), for example because a queue is full; the message is still ours.
    case refused
    /// The broker refuses this message finally, with the reason; the message is still ours.
    ///
    /// It closed the channel because of the message (`PRECONDITION_FAILED`, for example above its `max_message_size`),
    /// or AMQP cannot express the message.
    case rejected(String)
}
