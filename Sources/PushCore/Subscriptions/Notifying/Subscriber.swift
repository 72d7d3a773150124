/// A device of the owner of a subscription, by the numbers and names that outlast a restart.
public struct Subscriber: Hashable, Sendable {
    /// The row of the subscription.
    public var subscription: Int64
    /// The identifier of the device.
    public var deviceID: String

    /// Creates a subscriber.
    public init(subscription: Int64, deviceID: String) {
        self.subscription = subscription
        self.deviceID = deviceID
    }
}
