import Essentials

/// How the pushes of an app ended within the last half minute to minute, and whether too many of them ended badly.
///
/// | trouble | begins | ends |
/// |---|---|---|
/// | retried | more than half of the pushes had to be retried, at least ten | at most a quarter had to be |
/// | dead tokens | more than a quarter of the tokens were dead, at least twenty | at most an eighth were |
///
/// The counts are totals that only grow. The monitor looks at them once a second, so a push costs nothing here.
public struct RecentEndings: Hashable, Sendable {
    /// Counts of pushes, since any start.
    struct Totals: Hashable, Sendable {
        /// Pushes that the service accepted.
        var accepted = 0
        /// Pushes whose token was dead.
        var deadTokens = 0
        /// Pushes that failed at the service for now: unanswered, throttled, or answered with an error of its own.
        var retried = 0

        fileprivate var all: Int { accepted + deadTokens + retried }

        fileprivate mutating func add(_ other: Totals, less earlier: Totals = Totals()) {
            accepted += other.accepted - earlier.accepted
            deadTokens += other.deadTokens - earlier.deadTokens
            retried += other.retried - earlier.retried
        }
    }

    /// The length of a half of the window, in milliseconds.
    static let halfMilliseconds: Int64 = 30_000
    /// The fewest retried pushes that prove trouble.
    public static let retriedMinimum = 10
    /// The fewest dead tokens that prove trouble.
    static let deadTokensMinimum = 20

    private var began = MonotonicTime(nanoseconds: 0)
    private var last = Totals()
    private var earlierHalf = Totals()
    private var presentHalf = Totals()

    /// Whether most pushes have to be retried.
    private(set) var areRetried = false
    /// Whether unusually many tokens are dead.
    private(set) var areTokensDead = false

    /// Whether pushes ended within the window, so that a later look may find something else.
    var hasPushes: Bool { earlierHalf.all + presentHalf.all > 0 }

    /// Takes the counts as they are now.
    mutating func look(_ totals: Totals, at now: MonotonicTime) {
        let elapsed = now.milliseconds(since: began)
        if elapsed >= Self.halfMilliseconds {
            earlierHalf = elapsed >= 2 * Self.halfMilliseconds ? Totals() : presentHalf
            presentHalf = Totals()
            began = now
        }
        presentHalf.add(totals, less: last)
        last = totals
        var sum = earlierHalf
        sum.add(presentHalf)
        areRetried = sum.retried >= Self.retriedMinimum && sum.retried * (areRetried ? 4 : 2) > sum.all
        areTokensDead =
            sum.deadTokens >= Self.deadTokensMinimum && sum.deadTokens * (areTokensDead ? 8 : 4) > sum.all
    }
}
