internal import Notifications
public import PushLibrary

/// The result of one push to one browser.
public struct WebPushResult: SendResult {
    /// The subscription of the push.
    public let subscription: WebPushSubscription
    /// How it ended.
    public let outcome: WebPushOutcome

    /// Whether the subscription is gone for certain, so that it is to be removed.
    public var isGone: Bool {
        if case .rejected(let rejection) = outcome { rejection.remedy == .removeSubscription } else { false }
    }

    init(_ subscription: WebPushSubscription, _ outcome: AttemptOutcome) {
        self.subscription = subscription
        self.outcome = WebPushOutcome(outcome, rejection: WebPushRejection.init)
    }
}

/// How a push ended: accepted, rejected, or failed.
public typealias WebPushOutcome = SendOutcome<WebPushRejection>
