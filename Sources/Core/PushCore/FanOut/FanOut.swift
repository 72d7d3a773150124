/// A large fan-out as the registry knows it: whose event, how far it is planned, and how much of it is served.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | planning | its chunks are being found and published | planned, cancelled |
/// | planned | the broker has confirmed all its chunks | done, cancelled |
/// | cancelled | what has not begun is not sent | none |
/// | done | each of its chunks has ended | none |
public struct FanOut: Hashable, Sendable {
    /// How far a fan-out is.
    public enum State: String, CaseIterable, Sendable {
        /// Its chunks are being found and published.
        case planning
        /// All its chunks are with the broker.
        case planned
        /// What has not begun is not sent.
        case cancelled
        /// Each of its chunks has ended.
        case done
    }

    /// Its number; a later fan-out has a greater one.
    public var number: Int64
    /// Whose audience it serves.
    public var event: FanOutEvent
    /// How far it is.
    public var state: State
    /// The row of the newest subscription to records when it began: later ones are not served.
    public var newestSubscription: Int64
    /// Where the chunks that are planned end; nil at the beginning, and at the end.
    public var position: AudienceCursor?
    /// Whether all chunks have been found.
    public var isWhole: Bool
    /// How many chunks have been found; they are numbered from 1.
    public var chunksPlanned: Int
    /// How many of them the broker has confirmed.
    public var chunksPublished: Int
    /// How many of them have been served.
    public var chunksServed: Int
    /// How many of them were cancelled.
    public var chunksCancelled: Int
    /// How many devices the planned chunks had when they were found.
    public var devicesPlanned: Int
    /// Who is planning it; 0 if nobody is.
    public var planner: Int64
    /// When it began, in milliseconds since 1970.
    public var begunAtMilliseconds: Int64
    /// When it changed last, in milliseconds since 1970.
    public var changedAtMilliseconds: Int64

    /// Describes a fan-out that has just begun.
    public init(number: Int64, event: FanOutEvent, newestSubscription: Int64, planner: Int64, nowMilliseconds: Int64) {
        self.number = number
        self.event = event
        self.newestSubscription = newestSubscription
        self.planner = planner
        state = .planning
        position = nil
        isWhole = false
        chunksPlanned = 0
        chunksPublished = 0
        chunksServed = 0
        chunksCancelled = 0
        devicesPlanned = 0
        begunAtMilliseconds = nowMilliseconds
        changedAtMilliseconds = nowMilliseconds
    }
}
