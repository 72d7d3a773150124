public import ChangeEvents

/// A large fan-out as the registry knows it: its event, and how much of it is planned and served.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | planning | its chunks are being found and published | planned, cancelled |
/// | planned | the broker has confirmed all its chunks | done, cancelled |
/// | cancelled | chunks that have not begun are not sent | none |
/// | done | each of its chunks has ended | none |
public struct FanOut: Hashable, Sendable {
    /// How far a fan-out is.
    public enum State: String, CaseIterable, Sendable {
        /// Its chunks are being found and published.
        case planning
        /// All its chunks are with the broker.
        case planned
        /// Chunks that have not begun are not sent.
        case cancelled
        /// Each of its chunks has ended.
        case done
    }

    /// Its number; a later fan-out has a greater one.
    public var number: Int64
    /// The event whose audience it serves.
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
    /// The number of its planner; 0 if it has none.
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

/// The event of a fan-out, by what tells it from others and by what an operator knows it by.
public struct FanOutEvent: Hashable, Sendable {
    /// The digest that identifies the event.
    public var digest: EventDigest
    /// Where it came from.
    public var source: String
    /// Its identifier.
    public var identifier: String
    /// Its type, for example `push.requested`.
    public var type: String
    /// The app that it is for; nil if its audience says.
    public var app: String?

    /// Describes an event.
    public init(digest: EventDigest, source: String, identifier: String, type: String, app: String? = nil) {
        self.digest = digest
        self.source = source
        self.identifier = identifier
        self.type = type
        self.app = app
    }
}

/// How long the registry keeps what about fan-outs, and how large their numbers can be.
public enum FanOutRules {
    /// How long a planner has a fan-out for itself after each of its steps; then another may go on with it.
    public static let planningMilliseconds: Int64 = 5_000
    /// How long a fan-out that is done is remembered, so that a redelivery of its event or of a chunk is known.
    public static let doneKeptMilliseconds: Int64 = 86_400_000
    /// The time that any other event is remembered: longer than its messages are useful.
    public static let otherKeptMilliseconds: Int64 = 30 * 86_400_000
    /// How many are forgotten at once at most, so that no call takes long.
    public static let forgottenAtOnceMaximum = 10
    /// The most chunks and devices that a fan-out can have.
    public static let countMaximum = 1 << 40

    /// A number of chunks or devices as a message or a row says it, or the nearest one that there can be.
    public static func count(_ number: Int64) -> Int { Int(min(max(0, number), Int64(countMaximum))) }
}
