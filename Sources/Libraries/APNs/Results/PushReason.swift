/// Apple's reason for a rejection, for example `BadDeviceToken`; Apple may add others at any time.
///
/// Source: Apple, "Handling notification responses from APNs".
public struct PushReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word.
    public let rawValue: String

    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The word.
    public var description: String { rawValue }

    /// The token is not of this environment, or is no token.
    public static let badDeviceToken = PushReason(rawValue: "BadDeviceToken")
    /// The token belongs to another app.
    public static let deviceTokenNotForTopic = PushReason(rawValue: "DeviceTokenNotForTopic")
    /// The app was removed from the device, or does not want pushes any more.
    public static let unregistered = PushReason(rawValue: "Unregistered")
    /// The token has expired.
    public static let expiredToken = PushReason(rawValue: "ExpiredToken")
    /// The payload is too large.
    public static let payloadTooLarge = PushReason(rawValue: "PayloadTooLarge")
    /// The topic is not that of the key's team.
    public static let topicDisallowed = PushReason(rawValue: "TopicDisallowed")
    /// The provider token is not signed by the key that it names.
    public static let invalidProviderToken = PushReason(rawValue: "InvalidProviderToken")
    /// The provider token is more than an hour old.
    public static let expiredProviderToken = PushReason(rawValue: "ExpiredProviderToken")
    /// Too many pushes to the same device.
    public static let tooManyRequests = PushReason(rawValue: "TooManyRequests")
    /// APNs had an error of its own.
    public static let internalServerError = PushReason(rawValue: "InternalServerError")
    /// APNs cannot serve at this moment.
    public static let serviceUnavailable = PushReason(rawValue: "ServiceUnavailable")
}
