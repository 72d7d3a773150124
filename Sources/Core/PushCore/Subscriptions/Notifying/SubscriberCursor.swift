/// Where a page of subscribers ended.
public struct SubscriberCursor: Hashable, Sendable {
    /// The row of the subscription.
    public var subscription: Int64
    /// The row of its device.
    public var device: Int64

    /// Creates a cursor.
    public init(subscription: Int64, device: Int64) {
        self.subscription = subscription
        self.device = device
    }
}
