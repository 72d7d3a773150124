/// How matching one change went.
///
/// A search that reaches its limit reports no row at all: part of the subscribers is no answer. Match the change again
/// with a larger limit, where it keeps nobody else waiting.
public struct MatchOutcome: Hashable, Sendable {
    /// Whether all subscriptions were found; if not, none is reported.
    public var isComplete: Bool
    /// The work that was done: probes, candidates, tests of candidates and, for tests that read texts, each 64 bytes.
    public var steps: Int
}
