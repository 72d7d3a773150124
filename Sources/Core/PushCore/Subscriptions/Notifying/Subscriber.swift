public import Essentials

/// A device of the owner of a subscription, by the numbers and names that outlast a restart.
public struct Subscriber: Hashable, Sendable {
    /// The row of the subscription.
    public var subscription: Int64
    /// The identifier of the device.
    @ByBytes public var deviceID: String

    /// Creates a subscriber.
    public init(subscription: Int64, deviceID: String) {
        self.subscription = subscription
        self.deviceID = deviceID
    }

    /// How a parked message names it: the row, a colon, the device.
    public var parkedName: String { "\(subscription):\(deviceID)" }

    /// Reads the name in a parked message; nil if it is none.
    public init?(parkedName: String) {
        guard let colon = parkedName.utf8.firstIndex(of: UInt8(ascii: ":")),
            let subscription = Int64(parkedName[..<colon])
        else { return nil }
        self.init(subscription: subscription, deviceID: String(parkedName[parkedName.utf8.index(after: colon)...]))
    }
}
