/// A message that the broker handed to this process and holds until it is acknowledged.
public struct Delivery: Sendable {
    /// Under which name to acknowledge it.
    public var tag: DeliveryTag
    /// Which queue it came from.
    public var lane: DeliveryClass
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
        tag: DeliveryTag, lane: DeliveryClass, isRedelivered: Bool, exchange: String, routingKey: String,
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

/// Which queue a delivery came from.
public enum DeliveryClass: Sendable {
    /// `apus.work`: events and retries.
    case work
    /// `apus.fanout`: the continuation of large fan-outs.
    case fanout
}

/// Names one delivery: the broker's number, and the connection that it is good for.
public struct DeliveryTag: Hashable, Sendable {
    /// Which connection of this process delivered it; a tag of an earlier one must never be acknowledged, because the
    /// broker has taken its deliveries back and numbers anew.
    public var epoch: UInt32
    /// The broker's number, counting from 1 on each channel.
    public var number: UInt64

    /// Creates a tag.
    public init(epoch: UInt32, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }
}
