public import Notifications

/// Tells a dead token from a wrong configuration when APNs calls a token bad.
///
/// One bad token among many good answers is a dead token. When more than half of the recent answers call tokens bad,
/// the environment or the topic is wrong, and pruning would empty the registry.
public struct BadTokenWatch: Hashable, Sendable {
    /// What to do with a token that was called bad.
    public enum Verdict: Hashable, Sendable {
        /// Prune it.
        case prune
        /// The push has ended, but there are too few answers to prune on.
        case keep
        /// Keep the token and hold the push: the configuration is in doubt.
        case hold
    }

    /// How many answers count as recent.
    public static let recentMaximum = 128
    /// How many answers are needed for a verdict.
    public static let evidenceMinimum = 10

    private var answers: UInt128 = 0
    private var count = 0

    /// Creates a watch that has seen nothing.
    public init() {}

    /// Whether the configuration is in doubt at this moment.
    public var isInDoubt: Bool { count >= Self.evidenceMinimum && 2 * answers.nonzeroBitCount > count }

    /// Notes an answer that did not call the token bad.
    public mutating func tokenWasGood() { note(0) }

    /// Notes an answer that called the token bad, and decides about it.
    public mutating func tokenWasBad() -> Verdict {
        note(1)
        if count < Self.evidenceMinimum { return .keep }
        return isInDoubt ? .hold : .prune
    }

    private mutating func note(_ bit: UInt128) {
        answers = answers << 1 | bit
        count = min(count + 1, Self.recentMaximum)
    }
}

/// The watches of one app, one for each kind of token.
///
/// Each kind has a topic of its own, so a wrong one holds up no push of another kind.
public struct BadTokenWatches: Hashable, Sendable {
    private var alert = BadTokenWatch()
    private var further: [TokenKind: BadTokenWatch] = [:]

    /// Creates watches that have seen nothing.
    public init() {}

    /// Whether the configuration of any kind is in doubt at this moment.
    public var isAnyInDoubt: Bool { alert.isInDoubt || further.values.contains { $0.isInDoubt } }

    /// The watch of a kind.
    public subscript(kind: TokenKind) -> BadTokenWatch {
        get { kind == .alert ? alert : further[kind] ?? BadTokenWatch() }
        set {
            if kind == .alert { alert = newValue } else { further[kind] = newValue }
        }
    }
}
