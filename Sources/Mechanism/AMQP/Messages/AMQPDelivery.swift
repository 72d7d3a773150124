/// A message that the broker handed to us, by `basic.deliver` or `basic.get`.
public struct AMQPDelivery: Sendable {
    /// Which consumer it is for; empty for `basic.get`.
    public var consumerTag: String
    /// The broker's number for it, counting from 1 on each channel.
    public var number: UInt64
    /// Whether the broker may have delivered it before.
    public var isRedelivered: Bool
    /// The exchange that it was published to.
    public var exchange: String
    /// The routing key that it was published with.
    public var routingKey: String
    /// What was published.
    public var message: AMQPMessage
    /// Whether the message had tables or arrays that lie deeper in each other than `AMQPFieldValue.depthMaximum`; each
    /// of them comes as `void`.
    public var hasUnreadableHeaders: Bool
}
