/// A message that the broker handed to this process and holds until it is acknowledged.
public struct Delivery: Sendable {
    /// Under which name to acknowledge it.
    public var tag: DeliveryTag
    /// Which queue it came from.
    public var lane: DeliveryLane
    /// Whether the broker may have delivered it before.
    public var isRedelivered: Bool
    /// The exchange that it was published to.
    public var exchange: String
    /// The routing key that it was published with.
    public var routingKey: String
    /// What was published.
    public var message: Message

    /// Creates a delivery.
    public init(
        tag: DeliveryTag, lane: DeliveryLane, isRedelivered: Bool, exchange: String, routingKey: String,
        message: Message
    ) {
        self.tag = tag
        self.lane = lane
        self.isRedelivered = isRedelivered
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
    }
}
