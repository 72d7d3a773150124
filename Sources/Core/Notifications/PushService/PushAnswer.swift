/// What the push service answered.
public struct PushAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// Apple's reason, for example `Unregistered`; empty for status 200, or if the body held none.
    public var reason: String
    /// Since when a token has been dead (410 only), in milliseconds since 1970.
    public var deadSinceMilliseconds: Int64?
    /// The header `retry-after` in seconds, which Apple does not document but proxies send.
    public var retryAfterSeconds: Int?

    /// Creates an answer.
    public init(
        status: Int, reason: String = "", deadSinceMilliseconds: Int64? = nil, retryAfterSeconds: Int? = nil
    ) {
        self.status = status
        self.reason = reason
        self.deadSinceMilliseconds = deadSinceMilliseconds
        self.retryAfterSeconds = retryAfterSeconds
    }
}
