/// A message that no queue took (`basic.return`).
public struct AMQPReturn: Sendable {
    /// The broker's code, for example 312.
    public var code: UInt16
    /// The broker's text, for example `NO_ROUTE`.
    public var text: String
    /// The exchange that it was published to.
    public var exchange: String
    /// The routing key that it was published with.
    public var routingKey: String
    /// The message, as it was published.
    public var message: AMQPMessage

    /// Creates a return.
    public init(code: UInt16, text: String, exchange: String, routingKey: String, message: AMQPMessage) {
        self.code = code
        self.text = text
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
    }
}
