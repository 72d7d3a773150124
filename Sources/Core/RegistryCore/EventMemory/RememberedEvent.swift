public import ChangeEvents

/// An event that the registry remembers, because its pushes have ended.
public struct RememberedEvent: Hashable, Sendable {
    /// Its identity.
    public var identity: EventIdentity
    /// The digest of its content (`Message.contentDigest`).
    public var content: Int64

    /// Describes an event.
    public init(identity: EventIdentity, content: Int64) {
        self.identity = identity
        self.content = content
    }
}
