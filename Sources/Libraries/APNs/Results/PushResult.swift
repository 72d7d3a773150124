import Notifications

/// What became of one push.
public struct PushResult: Hashable, Sendable {
    /// Whom it was for.
    public let token: PushToken
    /// The header `apns-id`, a lowercase UUID: the same whenever the same message is sent to the same token.
    public let apnsID: String
    /// How it ended.
    public let outcome: PushOutcome

    /// Whether APNs has it.
    public var isAccepted: Bool { outcome == .accepted }

    /// Whether sending the same message to the same token again can be of use.
    public var isWorthRetrying: Bool {
        switch outcome {
        case .accepted: false
        case .rejected(let rejection): rejection.remedy == .sendLater
        case .failed: true
        }
    }
}

extension PushOutcome {
    init(_ outcome: Notifications.PushOutcome) {
        switch outcome {
        case .answered(let answer) where answer.status == 200: self = .accepted
        case .answered(let answer): self = .rejected(PushRejection(answer))
        case .notProcessed(let reason): self = .failed(.notProcessed(reason))
        case .ambiguous(let reason): self = .failed(.ambiguous(reason))
        }
    }
}
