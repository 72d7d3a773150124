/// The ways in which an attempt ends; they are never lumped together.
public enum PushOutcome: Hashable, Sendable {
    /// The push service answered.
    case answered(PushAnswer)
    /// The request was certainly not processed: never written, refused, or above GOAWAY's last stream. Resending it
    /// cannot make a duplicate.
    case notProcessed(String)
    /// The same, and its address is to blame: its host is a stranger's, which cannot be reached.
    ///
    /// Sending it again spends attempts, for anybody can make up such a host.
    case unreachable(String)
    /// It was not tried, because other strangers' hosts have all places that there are for such.
    case crowdedOut(String)
    /// The outcome is unknown: the deadline passed or the connection was lost after the request was written.
    ///
    /// Resending it may make a duplicate, so it keeps its `apns-id`.
    case ambiguous(String)

    /// Whether the push service answered.
    public var isAnswered: Bool { if case .answered = self { true } else { false } }
}

/// The answer of the push service.
public struct PushAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// Apple's reason, for example `Unregistered`; empty for status 200, or if the body held none.
    public var reason: String
    /// Since when a token has been dead (410 only), in milliseconds since 1970.
    public var deadSinceMilliseconds: Int64?
    /// The header `retry-after` in seconds, which Apple does not document but proxies send.
    public var retryAfterSeconds: Int?
    /// The token by which the service knows the device from now on; nil if that has not changed.
    public var successor: DeviceToken?
    /// What the service said in words: one field for both, because answers are copied on the way of every push.
    @usableFromInline var words: String?

    /// The name that the service gave to an accepted push; nil unless the route asks for it.
    public var messageName: String? { status == 200 ? words : nil }

    /// The sentence by which the service explains a refusal (`ServiceExplanation`); nil if it gave none.
    public var explanation: String? {
        get { status == 200 ? nil : words }
        set { if status != 200 { words = newValue } }
    }

    /// Creates an answer.
    @inlinable
    public init(
        status: Int, reason: String = "", deadSinceMilliseconds: Int64? = nil, retryAfterSeconds: Int? = nil,
        successor: DeviceToken? = nil, messageName: String? = nil, explanation: String? = nil
    ) {
        self.status = status
        self.reason = reason
        self.deadSinceMilliseconds = deadSinceMilliseconds
        self.retryAfterSeconds = retryAfterSeconds
        self.successor = successor
        words = status == 200 ? messageName : explanation
    }
}

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
