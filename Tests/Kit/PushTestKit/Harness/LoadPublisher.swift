import AMQP
import EventLoop

/// Publishes a load with confirms, at a steady rate or as fast as the broker confirms, and keeps book of it.
///
/// It never publishes an event twice: messages that an ended connection did not confirm are not repeated, so every
/// duplicate in a ledger is the worker's. It shares no code with the publisher of the worker but the AMQP client.
public final class LoadPublisher<Source: LoadSource>: RunningLoad {
    /// Its work so far.
    public let load: Watched<PublishedLoad<Source.Event>>
    private let loop: EventLoop
    private let core: LoopBound<LoadPublisherCore<Source>>

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - urls: the addresses of the broker's nodes, which are tried in turn.
    ///   - exchange: where to publish.
    ///   - source: the events.
    ///   - pace: how fast, and how many events may wait for their confirms.
    /// - Throws: `AMQPError` for an address that is none, `EventLoopError` if there is no thread.
    public init(urls: [String], exchange: String, source: Source, pace: LoadPace) throws {
        let endpoints = try urls.map { try AMQPEndpoint($0) }
        let loop = try EventLoop(name: "load")
        let load = Watched(PublishedLoad<Source.Event>())
        self.loop = loop
        self.load = load
        core = LoopBound(
            LoadPublisherCore(
                endpoints: endpoints, exchange: exchange, source: source, pace: pace, loop: loop, load: load), to: loop)
    }

    /// Begins.
    public func start() { loop.submit { [core] in core.value.start() } }

    /// Publishes to other URLs from the next connection on, and closes the present one.
    ///
    /// - Parameter urls: the addresses of the broker's nodes.
    /// - Throws: `AMQPError` for an address that is none.
    public func move(to urls: [String]) async throws {
        let endpoints = try urls.map { try AMQPEndpoint($0) }
        try await loop.run { [core] in core.value.move(to: endpoints) }
    }

    /// Publishes no more, waits a while for the confirms that are due, and closes.
    ///
    /// - Parameter confirmSeconds: how long it waits at most.
    /// - Throws: the loop's error if it has ended.
    public func finish(confirmSeconds: Double) async throws {
        try await loop.run { [core] in core.value.pause() }
        _ = await load.wait(deadlineSeconds: confirmSeconds) { $0.openCount == 0 }
        try await loop.run { [core] in core.value.stop() }
        loop.stopAndJoin()
    }
}

/// A load that is published by some way, and kept book of.
public protocol RunningLoad<Event>: Sendable {
    /// The user's record of an event.
    associatedtype Event: Sendable

    /// Its work so far.
    var load: Watched<PublishedLoad<Event>> { get }

    /// Publishes no more, and waits a while for the confirms that are due.
    func finish(confirmSeconds: Double) async throws
}

/// How fast a `LoadPublisher` publishes.
public struct LoadPace: Sendable {
    /// The rate; nil for as fast as the broker confirms.
    public var eventsPerSecond: Double?
    /// Beyond so many events without a confirm nothing more is published.
    public var openMaximum: Int
    /// The time between two checks for due events.
    public var tickMilliseconds: UInt64

    /// Creates a pace.
    public init(eventsPerSecond: Double?, openMaximum: Int, tickMilliseconds: UInt64) {
        self.eventsPerSecond = eventsPerSecond
        self.openMaximum = openMaximum
        self.tickMilliseconds = tickMilliseconds
    }
}

/// The events of a `LoadPublisher`, one after the other.
public protocol LoadSource: Sendable {
    /// The user's record of an event.
    associatedtype Event: Sendable

    /// The next event; nil if there is no more, after which it is not asked again.
    mutating func next() -> Event?

    /// The message of an event.
    func message(of event: Event) -> LoadMessage
}

/// An event on its way to the exchange, in structured JSON.
public struct LoadMessage: Sendable {
    /// The identifier of the message, if it has one beside the event's.
    public var identifier: String?
    /// The routing key.
    public var routingKey: String
    /// The event.
    public var body: String
    /// Whether the event is to be remembered, and so pushed once.
    public var isRemembered = false

    /// Creates a message.
    public init(identifier: String? = nil, routingKey: String, body: String) {
        self.identifier = identifier
        self.routingKey = routingKey
        self.body = body
    }
}

/// The work of a load so far.
public struct PublishedLoad<Event: Sendable>: Sendable {
    /// All events that were handed to the broker, in their order.
    public var events: [Event] = []
    /// When each was handed to the broker, in microseconds since 1970.
    public var publishedMicroseconds: [Int64] = []
    /// When each confirmed event was confirmed, in milliseconds since 1970, by its index in `events`.
    public var confirmedMilliseconds: [Int: Int64] = [:]
    /// The number of events without an answer of the broker.
    public var openCount = 0
    /// How often the connection was lost, or could not be made.
    public var interruptionCount = 0
    /// How many publishes came back because no queue took them, or were refused.
    public var refusedCount = 0
    /// Whether the broker asked it to publish nothing for now.
    public var isBlocked = false
    /// Whether the source has no further event.
    public var isAtEnd = false
    /// Why the connection ended the last time.
    public var lastInterruption = ""

    /// A load that has not begun.
    public init() {}

    /// All that in a few words, for an error.
    public var summary: String {
        "\(events.count) attempted, \(confirmedMilliseconds.count) confirmed, \(openCount) open, "
            + "\(refusedCount) refused, \(interruptionCount) interruptions, blocked: \(isBlocked), \(lastInterruption)"
    }
}
