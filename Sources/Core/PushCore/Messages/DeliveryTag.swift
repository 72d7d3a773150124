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
