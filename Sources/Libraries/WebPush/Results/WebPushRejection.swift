internal import Notifications
public import PushLibrary
internal import WebPushTransport

/// A push service looked at a push and did not take it.
public struct WebPushRejection: ServiceRejection {
    /// The change that is needed before the push can succeed.
    public enum Remedy: RejectionRemedy {
        /// Permanent: the person withdrew the permission, the subscription has ended (404, 410), or its endpoint is
        /// none that pushes go to. Forget it.
        case removeSubscription
        /// Permanent: the page subscribed with another key. Remove the subscription, unless many are called so at once:
        /// then the key of this configuration is wrong.
        case removeSubscriptionOrCorrectKey
        /// Permanent: the message is wrong, and stays so; too large for this service, for example.
        case correctMessage
        /// No service takes a push before the key, the subject or this machine's clock is corrected.
        case correctKey
        /// Temporary: send it again, after `retryAfter` or with a growing pause.
        case sendLater
    }

    /// The status of the answer, for example 410; 400 or 410 without an answer if the client does not send it.
    public let status: Int
    /// The service's reason as far as it is known, or why the client does not send it; may be empty.
    public let reason: String
    /// The needed change.
    public let remedy: Remedy
    /// The shortest wait before another try, if the answer says it or the status is 429 (`sendLater` only).
    public let retryAfter: Duration?

    /// The status and the reason.
    public var description: String { reason.isEmpty ? "status \(status)" : "\(status) \(reason)" }

    init(_ answer: PushAnswer) {
        status = answer.status
        reason = answer.reason
        guard SubscriptionProblem(rawValue: answer.reason) == nil else {
            (remedy, retryAfter) = (.removeSubscription, nil)
            return
        }
        let disposition = Disposition(.answered(answer), of: .webPush)
        retryAfter = disposition.retryAfter
        remedy =
            switch disposition {
            case .tokenDead: .removeSubscription
            case .tokenRejected: .removeSubscriptionOrCorrectKey
            case .deadLetter, .accepted: .correctMessage
            case .keyRejected: .correctKey
            case .retry, .resend, .resendPossibleDuplicate: .sendLater
            }
    }
}
