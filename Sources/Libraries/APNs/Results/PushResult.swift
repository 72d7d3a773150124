public import PushLibrary

/// The result of one push.
public struct PushResult: SendResult {
    /// The token of the push.
    public let token: PushToken
    /// The header `apns-id`, a lowercase UUID: the same whenever the same message is sent to the same token.
    public let apnsID: String
    /// How it ended.
    public let outcome: PushOutcome
}

/// How a push ended: accepted, rejected, or failed.
public typealias PushOutcome = SendOutcome<PushRejection>

/// The results of sending to a sequence of tokens, as they come: in the order of the answers, not of the tokens.
public typealias PushResults<Tokens: Sequence> = PushResultSequence<Tokens, PushResult>
where Tokens.Element == PushToken

/// The results of sending to tokens that come over time.
public typealias StreamedPushResults<Tokens: AsyncSequence & Sendable> = StreamedPushResultSequence<Tokens, PushResult>
where Tokens.Element == PushToken
