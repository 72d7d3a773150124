/// What has been done with dead letters so far.
public struct DeadLetterTally: Hashable, Sendable {
    /// How many were taken from the queue, those included that the registry had already.
    public var collectedCount = 0
    /// How many were meant.
    public var selectedCount = 0
    /// How many were replayed or deleted.
    public var doneCount = 0
    /// How many the broker will never take as they are; they are still dead letters.
    public var refusedCount = 0
    /// Why it does not take the first of those.
    public var refusal: String?
    /// Why the work ended before all was done; nil if it did not.
    public var failure: String?

    /// Creates an empty tally.
    public init() {}
}
