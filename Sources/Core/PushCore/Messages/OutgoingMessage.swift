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
