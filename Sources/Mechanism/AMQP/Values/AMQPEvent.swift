public import Messages

/// Something that the broker said on its own.
public enum AMQPEvent: Sendable {
    /// The broker ended a consumer (`basic.cancel`): its queue was deleted, or its leader is lost.
    case consumerEnded(tag: String)
    /// The broker agreed to end a consumer (`basic.cancel-ok`).
    case consumerCancelled(tag: String)
    /// The broker took publishes (`basic.ack`), or refused them (`basic.nack`), up to a number or just that number.
    case confirmed(number: UInt64, isMultiple: Bool, isAccepted: Bool)
    /// No queue took a publish; its confirm follows.
    case returned(AMQPReturn)
    /// The broker takes no publishes on this connection for now (`connection.blocked`), and why.
    case blocked(reason: String)
    /// The broker takes publishes again.
    case unblocked
}

/// A message that the broker handed to us, by `basic.deliver` or `basic.get`.
public struct AMQPDelivery: Sendable {
    /// Which consumer it is for; empty for `basic.get`.
    public var consumerTag: String
    /// The broker's number of the delivery, counting from 1 on each channel.
    public var number: UInt64
    /// Whether the broker may have delivered it before.
    public var isRedelivered: Bool
    /// The exchange that it was published to.
    public var exchange: String
    /// The routing key that it was published with.
    public var routingKey: String
    /// The published message.
    public var message: Message
    /// Whether the message had tables or arrays that lie deeper in each other than `HeaderValue.depthMaximum`; each
    /// of them comes as `void`.
    public var hasUnreadableHeaders: Bool
}

/// A message that no queue took (`basic.return`).
public struct AMQPReturn: Sendable {
    /// The broker's code, for example 312.
    public var code: UInt16
    /// The broker's text, for example `NO_ROUTE`.
    public var text: String
    /// The number of its publish; nil if the broker names none.
    public var number: UInt64?

    /// Creates a return.
    public init(code: UInt16, text: String, number: UInt64?) {
        self.code = code
        self.text = text
        self.number = number
    }
}

/// The result of one read.
struct AMQPBatch {
    /// Complete deliveries, in the broker's order.
    var deliveries: [AMQPDelivery] = []
    /// Everything else, in the broker's order.
    var events: [AMQPEvent] = []
}
