internal import Notifications
public import PushLibrary

/// The result of one message to one target.
public struct FCMResult: SendResult {
    /// The target of the message.
    public let target: FCMTarget
    /// FCM's name of an accepted message, `projects/PROJECT/messages/ID`; its only receipt.
    ///
    /// Nil if the message was not accepted, or the end of the answer was lost.
    public let messageName: String?
    /// How it ended.
    public let outcome: FCMOutcome

    init(_ target: FCMTarget, _ outcome: AttemptOutcome) {
        self.target = target
        self.outcome = FCMOutcome(outcome, rejection: FCMRejection.init)
        if case .answered(let answer) = outcome, answer.status == 200 {
            messageName = answer.messageName
        } else {
            messageName = nil
        }
    }
}

/// How a message ended: accepted, rejected, or failed.
public typealias FCMOutcome = SendOutcome<FCMRejection>
