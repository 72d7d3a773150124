import Notifications
public import PushLibrary

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
    init(_ outcome: AttemptOutcome) {
        switch outcome {
        case .answered(let answer) where answer.status == 200: self = .accepted
        case .answered(let answer): self = .rejected(PushRejection(answer))
        case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
            self = .failed(.notProcessed(reason))
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

/// The results of sending to a sequence of tokens, as they come: in the order of the answers, not of the tokens.
public typealias PushResults<Tokens: Sequence> = PushResultSequence<Tokens, PushResult>
where Tokens.Element == PushToken

/// The results of sending to tokens that come over time.
public typealias StreamedPushResults<Tokens: AsyncSequence & Sendable> = StreamedPushResultSequence<Tokens, PushResult>
where Tokens.Element == PushToken
