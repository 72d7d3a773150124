public import FoundationEssentials
import Notifications

/// APNs looked at a push and did not take it.
public struct PushRejection: Hashable, Sendable, CustomStringConvertible {
    /// What has to change before the push can succeed.
    public enum Remedy: Hashable, Sendable {
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
    /// What has to change.
    public let remedy: Remedy
    /// Since when the token is dead (410 only): a device that registered later is not meant.
    public let tokenDeadSince: Date?
    /// When to try again, if the answer said so.
    public let retryAfter: Duration?

    /// Whether the same push would be rejected again, whatever happens elsewhere.
    public var isPermanent: Bool { remedy != .sendLater && remedy != .correctKey }

    /// The status and the reason.
    public var description: String { reason.rawValue.isEmpty ? "status \(status)" : "\(status) \(reason)" }

    init(_ answer: PushAnswer) {
        status = answer.status
        reason = PushReason(rawValue: answer.reason)
        tokenDeadSince = answer.deadSinceMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        retryAfter = answer.retryAfterSeconds.map { .seconds($0) }
        remedy =
            switch Disposition(.answered(answer)) {
            case .tokenDead: .removeToken
            case .tokenRejected: .removeTokenOrCorrectConfiguration
            case .deadLetter, .accepted: .correctMessage
            case .keyRejected: .correctKey
            case .retry, .resend, .resendPossibleDuplicate: .sendLater
            }
    }
}
