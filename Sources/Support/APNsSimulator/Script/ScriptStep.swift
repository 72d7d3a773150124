import Notifications

/// One step of what the script has in store for a device token.
struct ScriptStep: Sendable, Equatable {
    /// What kind of tokens they are: with the topic of another kind they are refused; nil if they are of any kind.
    var kind: TokenKind?
    /// What to say, or nil to say nothing, ever.
    var answer: ScriptedAnswer?
    /// For how many requests the step lasts; nil means for all that follow.
    var times: Int?
    /// How much later than usual the answer comes, in milliseconds.
    var delayMilliseconds: Int
}
