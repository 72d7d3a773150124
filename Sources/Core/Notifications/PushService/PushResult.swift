/// How one attempt to send one push ended.
public struct PushResult: Sendable {
    /// The number of the `PushRequest`.
    public var identifier: UInt64
    /// How it ended.
    public var outcome: PushOutcome
    /// From the request's first byte to this outcome, in nanoseconds.
    public var durationNanoseconds: UInt64

    /// Creates a result.
    public init(identifier: UInt64, outcome: PushOutcome, durationNanoseconds: UInt64) {
        self.identifier = identifier
        self.outcome = outcome
        self.durationNanoseconds = durationNanoseconds
    }
}
