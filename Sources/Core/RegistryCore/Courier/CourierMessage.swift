public import Notifications

/// A notification for a client that fetches its notifications, as it waits to be fetched.
public struct CourierMessage: Hashable, Sendable {
    /// The token of the client's device.
    public var token: DeviceToken
    /// The app that the device belongs to.
    public var app: String
    /// The push's unique identifier; a push that waits already does not wait twice.
    public var pushID: APNsIdentifier
    /// It takes the place of a message of the same device with the same identifier; nil if it takes no place.
    public var collapseID: String?
    /// Until when it may be fetched, in milliseconds since 1970.
    public var expiresAtMilliseconds: Int64
    /// The JSON payload.
    public var payload: [UInt8]

    /// Creates a message.
    public init(
        token: DeviceToken, app: String, pushID: APNsIdentifier, collapseID: String? = nil,
        expiresAtMilliseconds: Int64, payload: [UInt8]
    ) {
        self.token = token
        self.app = app
        self.pushID = pushID
        self.collapseID = collapseID
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.payload = payload
    }
}

/// The result for a client that asks for its notifications.
public enum MailboxResult: Hashable, Sendable {
    /// There is no device with such a token.
    case unknown
    /// Nothing waits.
    case nothing
    /// The payload of the oldest message, which waits no more.
    case payload([UInt8])
}

/// The limits of notifications that wait for clients.
public enum CourierRules {
    /// How many messages wait for a device; one more takes the place of the oldest.
    public static let messagesPerDeviceMaximum = 100
    /// The most expired messages that are removed with each deposited batch, of any device.
    public static let expiredRemovedMaximum = 100
    /// How long a device may ask for nothing, in milliseconds, before it counts as gone: 30 days.
    public static let silenceMillisecondsMaximum: Int64 = 30 * 86_400_000
    /// How exactly it is known when a device asked last, in milliseconds: noting it each time would cost a write.
    public static let askedMillisecondsPrecision: Int64 = 86_400_000
    /// How long a message waits at most, in milliseconds: 30 days, as long as APNs stores one.
    private static let waitMillisecondsMaximum: Int64 = 30 * 86_400_000
    /// The length of "now or never", in milliseconds: a client is away for a moment between two requests.
    private static let nowOrNeverMilliseconds: Int64 = 60_000

    /// Until when a push may be fetched.
    ///
    /// - Parameters:
    ///   - expirationSeconds: the header `apns-expiration`: seconds since 1970, 0 for "now or never", nil for no limit.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the moment in milliseconds since 1970.
    public static func expiry(ofPushExpiring expirationSeconds: Int64?, nowMilliseconds: Int64) -> Int64 {
        let latest = nowMilliseconds + waitMillisecondsMaximum
        guard let expirationSeconds else { return latest }
        guard expirationSeconds > 0 else { return nowMilliseconds + nowOrNeverMilliseconds }
        let (milliseconds, isTooLate) = expirationSeconds.multipliedReportingOverflow(by: 1_000)
        return isTooLate ? latest : min(milliseconds, latest)
    }
}
