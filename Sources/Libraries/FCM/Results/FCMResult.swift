internal import Notifications
public import PushLibrary

/// The result of one message to one target.
public struct FCMResult: Hashable, Sendable {
    /// The target of the message.
    public let target: FCMTarget
    /// FCM's name of an accepted message, `projects/PROJECT/messages/ID`; its only receipt.
    ///
    /// Nil if the message was not accepted, or the end of the answer was lost.
    public let messageName: String?
    /// How it ended.
    public let outcome: FCMOutcome

    /// Whether FCM has it.
    public var isAccepted: Bool { outcome == .accepted }

    /// Whether sending the same message to the same target again may succeed.
    public var isWorthRetrying: Bool {
        switch outcome {
        case .accepted: false
        case .rejected(let rejection): rejection.remedy == .sendLater
        case .failed: true
        }
    }

    init(_ target: FCMTarget, _ outcome: AttemptOutcome) {
        self.target = target
        switch outcome {
        case .answered(let answer) where answer.status == 200:
            (self.outcome, messageName) = (.accepted, answer.messageName)
        case .answered(let answer): (self.outcome, messageName) = (.rejected(FCMRejection(answer)), nil)
        case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
            (self.outcome, messageName) = (.failed(.notProcessed(reason)), nil)
        case .ambiguous(let reason): (self.outcome, messageName) = (.failed(.ambiguous(reason)), nil)
        }
    }
}

/// How a message ended: one of three, which are never confused.
public enum FCMOutcome: Hashable, Sendable {
    /// FCM has it.
    case accepted
    /// FCM looked at it and does not take it.
    case rejected(FCMRejection)
    /// There was no answer.
    case failed(PushFailure)
}
