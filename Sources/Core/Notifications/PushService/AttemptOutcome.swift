/// The ways in which an attempt ends; they are never lumped together.
public enum AttemptOutcome: Hashable, Sendable {
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
    /// Its parts beside the status; nil if there are none.
    ///
    /// One reference, and nil for nearly all, because answers are copied several times on the way of every push.
    @usableFromInline var details: AnswerDetails?

    /// Apple's reason, for example `Unregistered`; empty for status 200, or if the body held none.
    public var reason: String {
        get { details?.values.reason ?? "" }
        set { change { $0.reason = newValue } }
    }

    /// Since when a token has been dead (410 only), in milliseconds since 1970.
    public var deadSinceMilliseconds: Int64? {
        get { details?.values.deadSinceMilliseconds }
        set { change { $0.deadSinceMilliseconds = newValue } }
    }

    /// The header `retry-after` in seconds, which Apple does not document but proxies send.
    public var retryAfterSeconds: Int? {
        get { details?.values.retryAfterSeconds }
        set { change { $0.retryAfterSeconds = newValue } }
    }

    /// The token by which the service knows the device from now on; nil if that has not changed.
    public var successor: DeviceToken? {
        get { details?.values.successor }
        set { change { $0.successor = newValue } }
    }

    /// The name that the service gave to an accepted push; nil unless the route asks for it.
    public var messageName: String? { status == 200 ? details?.values.words : nil }

    /// The sentence by which the service explains a refusal (`ServiceExplanation`); nil if it gave none.
    public var explanation: String? {
        get { status == 200 ? nil : details?.values.words }
        set { if status != 200 { change { $0.words = newValue } } }
    }

    /// Creates an answer that says nothing but its status.
    @inlinable
    public init(status: Int) {
        self.status = status
        details = nil
    }

    /// Creates an answer.
    public init(
        status: Int, reason: String = "", deadSinceMilliseconds: Int64? = nil, retryAfterSeconds: Int? = nil,
        successor: DeviceToken? = nil, messageName: String? = nil, explanation: String? = nil
    ) {
        self.init(status: status)
        details = AnswerDetails.keeping(
            AnswerDetails.Values(
                reason: reason, deadSinceMilliseconds: deadSinceMilliseconds, retryAfterSeconds: retryAfterSeconds,
                successor: successor, words: status == 200 ? messageName : explanation))
    }

    private mutating func change(_ body: (inout AnswerDetails.Values) -> Void) {
        var values = details?.values ?? AnswerDetails.Values()
        body(&values)
        details = AnswerDetails.keeping(values)
    }
}

/// The optional parts of a push service's answer, beside the status.
@usableFromInline
final class AnswerDetails: Hashable, Sendable {
    struct Values: Hashable {
        var reason = ""
        var deadSinceMilliseconds: Int64?
        var retryAfterSeconds: Int?
        var successor: DeviceToken?
        /// The name of an accepted push, or the explanation of a refusal.
        var words: String?
    }

    let values: Values

    private init(_ values: Values) { self.values = values }

    /// Keeps values; nil if there are none.
    ///
    /// No initialiser that may fail, because such a one allocates before it fails.
    static func keeping(_ values: Values) -> AnswerDetails? {
        values == Values() ? nil : AnswerDetails(values)
    }

    @usableFromInline
    static func == (left: AnswerDetails, right: AnswerDetails) -> Bool { left.values == right.values }

    @usableFromInline
    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// How one attempt to send one push ended.
public struct AttemptResult: Sendable {
    /// The number of the `PushRequest`.
    public var identifier: UInt64
    /// How it ended.
    public var outcome: AttemptOutcome
    /// From the request's first byte to this outcome, in nanoseconds.
    public var durationNanoseconds: UInt64

    /// Creates a result.
    public init(identifier: UInt64, outcome: AttemptOutcome, durationNanoseconds: UInt64) {
        self.identifier = identifier
        self.outcome = outcome
        self.durationNanoseconds = durationNanoseconds
    }
}
