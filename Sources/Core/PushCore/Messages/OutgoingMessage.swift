/// A message that must reach a queue: it counts as parked only when the broker has confirmed it.
public struct OutgoingMessage: Sendable {
    /// The sender's own number, given back with the outcome.
    public var identifier: UInt64
    /// The exchange; empty for the default exchange, which routes by queue name.
    public var exchange: String
    /// The routing key, or the name of the queue.
    public var routingKey: String
    /// What to publish; always published as persistent and mandatory.
    public var message: Message

    /// Creates an outgoing message.
    public init(identifier: UInt64, exchange: String, routingKey: String, message: Message) {
        self.identifier = identifier
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
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
    /// The broker takes this message never, whatever the state of its queues, with the reason; it is still ours.
    ///
    /// It closed the channel because of the message (`PRECONDITION_FAILED`, for example above its `max_message_size`),
    /// or AMQP cannot express the message.
    case rejected(String)
}
