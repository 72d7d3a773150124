import Notifications

/// The result of one push.
public struct PushResult: Hashable, Sendable {
    /// The token of the push.
    public let token: PushToken
    /// The header `apns-id`, a lowercase UUID: the same whenever the same message is sent to the same token.
    public let apnsID: String
    /// How it ended.
    public let outcome: PushOutcome

    /// Whether APNs has it.
    public var isAccepted: Bool { outcome == .accepted }

    /// Whether sending the same message to the same token again may succeed.
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

/// How a push ended: one of three, which are never confused.
public enum PushOutcome: Hashable, Sendable {
    /// APNs has it.
    case accepted
    /// APNs looked at it and does not take it.
    case rejected(PushRejection)
    /// There was no answer.
    case failed(PushFailure)
}

/// A push that got no answer; always temporary.
public enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// APNs certainly has not seen it: sending it again cannot make a duplicate. With the reason.
    case notProcessed(String)
    /// APNs may or may not have the push: the answer did not come in time, or the connection was lost.
    ///
    /// Sending the same message again may make a duplicate, which bears the same `apns-id`, and replaces the first if
    /// the message has a collapse identifier. With the reason.
    case ambiguous(String)

    /// The reason.
    public var description: String {
        switch self {
        case .notProcessed(let reason): "not processed: \(reason)"
        case .ambiguous(let reason): "perhaps processed: \(reason)"
        }
    }
}
