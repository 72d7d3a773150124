internal import Notifications
public import PushLibrary

/// The result of one push to one browser.
public struct WebPushResult: Hashable, Sendable {
    /// The subscription of the push.
    public let subscription: WebPushSubscription
    /// How it ended.
    public let outcome: WebPushOutcome

    /// Whether the push service has it.
    public var isAccepted: Bool { outcome == .accepted }

    /// Whether the subscription is gone for certain, so that it is to be removed.
    public var isGone: Bool {
        if case .rejected(let rejection) = outcome { rejection.remedy == .removeSubscription } else { false }
    }

    /// Whether sending the same message to the same subscription again may succeed.
    public var isWorthRetrying: Bool {
        switch outcome {
        case .accepted: false
        case .rejected(let rejection): rejection.remedy == .sendLater
        case .failed: true
        }
    }

    init(_ subscription: WebPushSubscription, _ outcome: AttemptOutcome) {
        self.subscription = subscription
        self.outcome =
            switch outcome {
            case .answered(let answer) where answer.status == 200: .accepted
            case .answered(let answer): .rejected(WebPushRejection(answer))
            case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
                .failed(.notProcessed(reason))
            case .ambiguous(let reason): .failed(.ambiguous(reason))
            }
    }
}

/// How a push ended: one of three, which are never confused.
public enum WebPushOutcome: Hashable, Sendable {
    /// The push service has it.
    case accepted
    /// The push service looked at it and does not take it, or the client does not send it there.
    case rejected(WebPushRejection)
    /// There was no answer.
    case failed(PushFailure)
}
