/// What a `LoadPublisher` publishes, one event after the other.
public protocol LoadSource: Sendable {
    /// What its user knows of an event.
    associatedtype Event: Sendable

    /// The next event; nil if there is no more, after which it is not asked again.
    mutating func next() -> Event?

    /// What is published of an event.
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

    /// Creates a message.
    public init(identifier: String? = nil, routingKey: String, body: String) {
        self.identifier = identifier
        self.routingKey = routingKey
        self.body = body
    }
}

/// What a `LoadPublisher` has done so far.
public struct PublishedLoad<Event: Sendable>: Sendable {
    /// All events that were handed to the broker, in their order.
    public internal(set) var events: [Event] = []
    /// When each was handed to the broker, in microseconds since 1970.
    public internal(set) var publishedMicroseconds: [Int64] = []
    /// When each confirmed event was confirmed, in milliseconds since 1970, by its place in `events`.
    public internal(set) var confirmedMilliseconds: [Int: Int64] = [:]
    /// How many events await what the broker says of them.
    public internal(set) var openCount = 0
    /// How often the connection was lost, or could not be made.
    public internal(set) var interruptionCount = 0
    /// How many publishes came back because no queue took them, or were refused.
    public internal(set) var refusedCount = 0
    /// Whether the broker asked it to publish nothing for now.
    public internal(set) var isBlocked = false
    /// Whether the source has no further event.
    public internal(set) var isAtEnd = false
    /// Why the connection ended the last time.
    public internal(set) var lastInterruption = ""

    /// All that in a few words, for an error.
    public var summary: String {
        "\(events.count) attempted, \(confirmedMilliseconds.count) confirmed, \(openCount) open, "
            + "\(refusedCount) refused, \(interruptionCount) interruptions, blocked: \(isBlocked), \(lastInterruption)"
    }
}
