public import Messages

/// A message that the broker handed to this process and keeps until it is acknowledged.
public struct Delivery: Sendable {
    /// Under which name to acknowledge it.
    public var tag: DeliveryTag
    /// Its class, by the queue that it came from.
    public var deliveryClass: DeliveryClass
    /// Whether the broker may have delivered it before.
    public var isRedelivered: Bool
    /// The exchange that it was published to.
    public var exchange: String
    /// The routing key that it was published with.
    public var routingKey: String
    /// The published message.
    public var message: Message

    /// Creates a delivery.
    public init(
        tag: DeliveryTag, deliveryClass: DeliveryClass, isRedelivered: Bool, exchange: String, routingKey: String,
        message: Message
    ) {
        self.tag = tag
        self.deliveryClass = deliveryClass
        self.isRedelivered = isRedelivered
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
    }
}

/// The class of a delivery, by the queue that it came from.
///
/// Bulk pushes use only the capacity that interactive ones leave.
public enum DeliveryClass: Sendable {
    /// `apus.work`: events and retries.
    case interactive
    /// `apus.fanout`: the chunks and continuations of large fan-outs.
    case bulk
}

/// Names one delivery: the broker's number, and the connection that it is good for.
public struct DeliveryTag: Hashable, Sendable {
    /// The connection of this process that delivered it; a tag of an earlier one must never be acknowledged, because
    /// the broker has requeued its deliveries and restarted the numbers.
    public var epoch: UInt32
    /// The broker's number, counting from 1 on each channel.
    public var number: UInt64

    /// Creates a tag.
    public init(epoch: UInt32, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Feeds one word to the hasher, because each delivery is looked up several times.
    public func hash(into hasher: inout Hasher) { hasher.combine(number ^ UInt64(epoch) << 40) }
}
