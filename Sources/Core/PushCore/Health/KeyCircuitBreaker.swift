public import Essentials
public import Notifications

/// Stops sending for an app whose key APNs does not accept, and finds out when it does again.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | closed | pushes flow | open, when an answer says that the key is wrong |
/// | open | pushes are requeued | probing, when `probeIntervalMilliseconds` have passed and a push comes |
/// | probing | one push is out, the others are requeued | closed, on another answer; open, if wrong or unanswered |
public struct KeyCircuitBreaker: Hashable, Sendable {
    /// The states.
    public enum State: Hashable, Sendable {
        /// Pushes flow.
        case closed
        /// Pushes are requeued until then.
        case open(until: MonotonicTime)
        /// One push is out to see.
        case probing
    }

    /// How long the breaker stays open before one push tries the key.
    public static let probeIntervalMilliseconds: Int64 = 30_000

    /// The state now.
    public private(set) var state = State.closed

    /// Creates a closed breaker.
    public init() {}

    /// Whether the next push may be sent; a true answer in the open state makes that push the probe.
    public mutating func admits(at now: MonotonicTime) -> Bool {
        switch state {
        case .closed: return true
        case .probing: return false
        case .open(let until):
            guard now >= until else { return false }
            state = .probing
            return true
        }
    }

    /// APNs answered something that is not about the key.
    public mutating func keyWasAccepted() { state = .closed }

    /// APNs did not accept the key.
    public mutating func keyWasRejected(at now: MonotonicTime) {
        state = .open(until: now.advanced(byMilliseconds: UInt64(Self.probeIntervalMilliseconds)))
    }

    /// The attempt ended without an answer, which says nothing about the key; a probe is taken back.
    public mutating func attemptWasUnanswered(at now: MonotonicTime) {
        if state == .probing { keyWasRejected(at: now) }
    }
}

/// Tells a dead token from a wrong configuration when APNs calls a token bad.
///
/// One bad token among many good answers is a dead token. When more than half of the recent answers call tokens bad,
/// the environment or the topic is wrong, and pruning would empty the registry.
public struct TokenRejectionMonitor: Hashable, Sendable {
    /// The decision about a token that was called bad.
    public enum Verdict: Hashable, Sendable {
        /// Prune it.
        case prune
        /// The push has ended, but there are too few answers to prune on.
        case keep
        /// Keep the token and defer the push: the configuration is in doubt.
        case deferPush
    }

    /// How many answers count as recent.
    public static let recentMaximum = 128
    /// How many answers are needed for a verdict.
    public static let evidenceMinimum = 10

    private var answers: UInt128 = 0
    private var count = 0

    /// Creates a monitor that has seen nothing.
    public init() {}

    /// Whether the configuration is in doubt at this moment.
    public var isInDoubt: Bool { count >= Self.evidenceMinimum && 2 * answers.nonzeroBitCount > count }

    /// Notes an answer that did not call the token bad.
    public mutating func tokenWasGood() { note(0) }

    /// Notes an answer that called the token bad, and decides about it.
    public mutating func tokenWasBad() -> Verdict {
        note(1)
        if count < Self.evidenceMinimum { return .keep }
        return isInDoubt ? .deferPush : .prune
    }

    private mutating func note(_ bit: UInt128) {
        answers = answers << 1 | bit
        count = min(count + 1, Self.recentMaximum)
    }
}

/// The monitors of one app, one for each kind of token.
///
/// Each kind has a topic of its own, so a wrong one delays no push of another kind.
public struct TokenRejectionMonitors: Hashable, Sendable {
    private var alert = TokenRejectionMonitor()
    private var further: [TokenKind: TokenRejectionMonitor] = [:]

    /// Creates monitors that have seen nothing.
    public init() {}

    /// Whether the configuration of any kind is in doubt at this moment.
    public var isAnyInDoubt: Bool { alert.isInDoubt || further.values.contains { $0.isInDoubt } }

    /// The monitor of a kind.
    public subscript(kind: TokenKind) -> TokenRejectionMonitor {
        get { kind == .alert ? alert : further[kind] ?? TokenRejectionMonitor() }
        set {
            if kind == .alert { alert = newValue } else { further[kind] = newValue }
        }
    }
}
