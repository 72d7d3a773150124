public import FoundationEssentials
import Notifications
public import PushLibrary

/// APNs looked at a push and did not take it.
public struct PushRejection: ServiceRejection {
    /// The change that is needed before the push can succeed.
    public enum Remedy: RejectionRemedy {
        /// Permanent: forget the token, unless the device registered it again after `tokenDeadSince`.
        case removeToken
        /// Permanent: the token is not for this environment or this app. Remove it, unless many tokens are called so at
        /// once: then the environment or the bundle identifier is wrong.
        case removeTokenOrCorrectConfiguration
        /// Permanent: the message is wrong, and stays so.
        case correctMessage
        /// Nothing of this configuration can be sent before its key, key identifier, team or bundle identifier is
        /// corrected.
        case correctKey
        /// Temporary: send it again, after `retryAfter` or with a growing pause; Apple asks for 15 minutes after
        /// an error of its own.
        case sendLater
    }

    /// The status of the answer, for example 410.
    public let status: Int
    /// Apple's reason; empty if the answer held none.
    public let reason: PushReason
    /// The needed change.
    public let remedy: Remedy
    /// Since when the token is dead (410 only): a device that registered later is not meant.
    public let tokenDeadSince: Date?
    /// When to try again, if the answer said so.
    public let retryAfter: Duration?

    /// The status and the reason.
    public var description: String { reason.rawValue.isEmpty ? "status \(status)" : "\(status) \(reason)" }

    init(_ answer: PushAnswer) {
        status = answer.status
        reason = PushReason(rawValue: answer.reason)
        tokenDeadSince = answer.deadSinceMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        retryAfter = answer.retryAfterSeconds.map { .seconds($0) }
        remedy =
            switch Disposition(.answered(answer), of: .apns) {
            case .tokenDead: .removeToken
            case .tokenRejected: .removeTokenOrCorrectConfiguration
            case .deadLetter, .accepted: .correctMessage
            case .keyRejected: .correctKey
            case .retry, .resend, .resendPossibleDuplicate: .sendLater
            }
    }
}

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
