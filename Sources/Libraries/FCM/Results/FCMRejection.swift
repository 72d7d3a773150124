internal import Notifications
public import PushLibrary

/// FCM looked at a message and did not take it.
public struct FCMRejection: ServiceRejection {
    /// The change that is needed before the message can succeed.
    public enum Remedy: RejectionRemedy {
        /// Permanent: the app was removed, or its token is too old. Forget the target, unless the app registered it
        /// again since the message was sent.
        case removeToken
        /// Permanent: the target is malformed, or belongs to another project. Remove it, unless many targets are called
        /// so at once: then the project or the service account is wrong.
        case removeTokenOrCorrectConfiguration
        /// Permanent: the message is wrong, and stays so.
        case correctMessage
        /// Nothing of this configuration can be sent before its service account, its rights or its project are
        /// corrected.
        case correctKey
        /// Temporary: send it again after `retryAfter`, and double the pause each time, with some chance in it.
        case sendLater
    }

    /// The status of the answer, for example 404; 401 without an answer if the service account gets no access token.
    public let status: Int
    /// FCM's code; empty if the answer held none.
    public let errorCode: FCMErrorCode
    /// The needed change.
    public let remedy: Remedy
    /// The shortest wait before another try (`sendLater` only): that of the answer, or else Google's recommendation.
    public let retryAfter: Duration?
    /// The reason from the answer or from the token endpoint.
    private let reason: String

    /// Whether the target is dead for certain.
    public var isTokenDead: Bool { remedy == .removeToken }

    /// The status and the reason.
    public var description: String { reason.isEmpty ? "status \(status)" : "\(status) \(reason)" }

    init(_ answer: PushAnswer) {
        status = answer.status
        reason = answer.reason
        let isCode = answer.reason.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") }
        errorCode = FCMErrorCode(rawValue: isCode ? answer.reason : "")
        let disposition = Disposition(.answered(answer), of: .fcm)
        retryAfter = disposition.retryAfter
        remedy =
            switch disposition {
            case .tokenDead: .removeToken
            case .tokenRejected: .removeTokenOrCorrectConfiguration
            case .deadLetter, .accepted: .correctMessage
            case .keyRejected: .correctKey
            case .retry, .resend, .resendPossibleDuplicate: .sendLater
            }
    }
}

/// FCM's code of a rejection, for example `UNREGISTERED`; Google may add others at any time.
///
/// `INVALID_TOKEN` and `DEVICE_QUOTA_EXCEEDED` are the library's: they are `INVALID_ARGUMENT` and `QUOTA_EXCEEDED`
/// whose details speak of the target. An answer of Google's front end has the reason of its `ErrorInfo`, or a status of
/// gRPC. Source: Google, "ErrorCode".
public struct FCMErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word.
    public let rawValue: String

    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The word.
    public var description: String { rawValue }

    /// The app was removed, or its token has expired.
    public static let unregistered = FCMErrorCode(rawValue: "UNREGISTERED")
    /// The target belongs to another sender, which is to say to another project.
    public static let senderIDMismatch = FCMErrorCode(rawValue: "SENDER_ID_MISMATCH")
    /// The message is wrong.
    public static let invalidArgument = FCMErrorCode(rawValue: "INVALID_ARGUMENT")
    /// `INVALID_ARGUMENT` about the target.
    public static let invalidToken = FCMErrorCode(rawValue: FCMReason.invalidToken)
    /// The credentials that the project has for APNs or browsers are wrong.
    public static let thirdPartyAuthError = FCMErrorCode(rawValue: "THIRD_PARTY_AUTH_ERROR")
    /// Too many messages of the project.
    public static let quotaExceeded = FCMErrorCode(rawValue: "QUOTA_EXCEEDED")
    /// Too many messages to one device.
    public static let deviceQuotaExceeded = FCMErrorCode(rawValue: FCMReason.deviceQuotaExceeded)
    /// FCM cannot serve at this moment.
    public static let unavailable = FCMErrorCode(rawValue: "UNAVAILABLE")
    /// FCM had an error of its own.
    public static let internalError = FCMErrorCode(rawValue: "INTERNAL")
}
