import Essentials

/// Which dead letters are meant; a letter has to satisfy all that is given.
public struct DeadLetterFilter: Hashable, Sendable {
    /// Letters whose identifier begins so.
    public var identifierPrefix: String?
    /// Letters with this reason.
    public var reason: String?
    /// Letters of this app.
    public var app: String?
    /// Letters whose event has this type, or one that ends with a dot and this.
    public var eventType: String?
    /// Letters whose event has this source.
    public var eventSource: String?
    /// Letters whose event has this `id`.
    public var eventIdentifier: String?
    /// Letters that became such at this time or later, in milliseconds since 1970.
    public var sinceMilliseconds: Int64?
    /// Letters that became such before this time, in milliseconds since 1970.
    public var untilMilliseconds: Int64?
    /// Letters with this number or a smaller one: those that were there when it was the newest.
    public var numberMaximum: Int64?

    /// Every letter.
    public init() {}

    /// Whether a letter is meant; every store has to answer alike.
    public func includes(_ letter: DeadLetterSummary) -> Bool {
        letter.identifier.hasPrefix(identifierPrefix ?? "")
            && (reason == nil || letter.reason == reason)
            && (app == nil || letter.app == app)
            && (eventType == nil || letter.eventType == eventType
                || letter.eventType?.hasSuffix("." + (eventType ?? "")) == true)
            && (eventSource == nil || letter.eventSource.hasBytes(of: eventSource))
            && (eventIdentifier == nil || letter.eventIdentifier.hasBytes(of: eventIdentifier))
            && letter.deadLetteredMilliseconds >= sinceMilliseconds ?? .min
            && (untilMilliseconds == nil || letter.deadLetteredMilliseconds < untilMilliseconds ?? .max)
            && letter.number <= numberMaximum ?? .max
    }
}

/// How many letters there are of one reason and one app.
public struct DeadLetterCount: Hashable, Sendable {
    /// The reason.
    public var reason: String
    /// The app; nil if nothing tells.
    public var app: String?
    /// How many letters.
    public var count: Int
    /// When the oldest of them became a dead letter, in milliseconds since 1970.
    public var oldestMilliseconds: Int64

    /// Creates a count.
    public init(reason: String, app: String?, count: Int, oldestMilliseconds: Int64) {
        self.reason = reason
        self.app = app
        self.count = count
        self.oldestMilliseconds = WallTime(milliseconds: oldestMilliseconds).milliseconds
    }
}
