/// The event of a fan-out, by what tells it from others and by what an operator knows it by.
public struct FanOutEvent: Hashable, Sendable {
    /// What tells it from all other events.
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
