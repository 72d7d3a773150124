import Essentials

/// Decides when an outcome is posted again, and when no more.
///
/// After its first failure an outcome waits for five seconds, then for a minute, and so on up to two hours; it waits
/// longer if the endpoint asks for it. It is given up when it fails and is older than the retention.
public struct WebhookRetries: Hashable, Sendable {
    /// The delays of the retry queues, in milliseconds, ascending.
    public static let delaysMilliseconds: [Int64] = [5_000, 60_000, 300_000, 1_800_000, 7_200_000]
    /// How long an outcome is tried as a rule, in milliseconds: three days.
    public static let standardRetentionMilliseconds: Int64 = 3 * 24 * 3_600_000

    /// How long after its publication an outcome is given up, in milliseconds.
    public let retentionMilliseconds: Int64

    /// Creates a policy.
    public init(retentionMilliseconds: Int64 = Self.standardRetentionMilliseconds) {
        self.retentionMilliseconds = retentionMilliseconds
    }

    /// How long an outcome waits after a failure.
    ///
    /// - Parameters:
    ///   - failedAttempts: how many attempts have failed, this one included.
    ///   - askedSeconds: the wait that the endpoint asks for; a longer one than the last step is cut.
    ///   - since: when the outcome was published.
    ///   - now: the time.
    /// - Returns: one of the delays; nil if the outcome is given up.
    func delayMilliseconds(
        afterFailedAttempts failedAttempts: Int, askedSeconds: Int?, since: WallTime, at now: WallTime
    ) -> Int64? {
        guard now - since < retentionMilliseconds else { return nil }
        let last = Self.delaysMilliseconds.count - 1
        let own = Self.delaysMilliseconds[min(max(0, failedAttempts - 1), last)]
        let asked = Int64(min(max(0, askedSeconds ?? 0), 86_400)) * 1_000
        return Self.delaysMilliseconds.first { $0 >= max(own, asked) } ?? Self.delaysMilliseconds[last]
    }
}

/// When an endpoint that fails is left alone: a pause after some failures in a row, which grows with each in vain.
///
/// One outcome that an endpoint does not like must not pause the others, so a pause begins with the fifth failure in a
/// row. After a pause one request is made; only if that succeeds, many are made at once again.
struct WebhookPauses: Sendable {
    private static let failuresWithoutPause = 4
    private static let backOff = BackOff(baseNanoseconds: 1_000_000_000, capNanoseconds: 60_000_000_000)
    /// No endpoint is left alone for longer, whatever it asks for.
    static let askedSecondsMaximum = 300

    private var failuresInRow = 0
    private var pausesInRow = 0
    /// Until when nothing is posted.
    private(set) var end: MonotonicTime?
    /// Until when the endpoint has asked to be left alone.
    private var askedEnd: MonotonicTime?

    /// Whether the endpoint counts as failing: it has paused, and has taken nothing since.
    var isFailing: Bool { pausesInRow > 0 }

    /// The endpoint took an outcome.
    mutating func succeeded(at now: MonotonicTime) {
        // One that was under way when the endpoint asked to be left alone does not end that pause.
        if let askedEnd, now < askedEnd { return }
        failuresInRow = 0
        pausesInRow = 0
        end = nil
    }

    /// The endpoint did not take an outcome.
    mutating func failed(_ answer: WebhookAnswer, at now: MonotonicTime) {
        // A request that was under way when a pause began tells nothing new, except for a longer requested wait.
        let isPaused = end.map { now < $0 } ?? false
        if !isPaused {
            failuresInRow = min(failuresInRow + 1, 1_000)
            if isFailing || failuresInRow > Self.failuresWithoutPause || answer.retryAfterSeconds != nil {
                pausesInRow = min(pausesInRow + 1, 1_000)
                end = now.advanced(byNanoseconds: Self.backOff.longestWaitNanoseconds(afterFailures: pausesInRow))
            }
        }
        guard let retryAfterSeconds = answer.retryAfterSeconds else { return }
        let seconds = UInt64(min(max(1, retryAfterSeconds), Self.askedSecondsMaximum))
        let asked = now.advanced(byNanoseconds: seconds * 1_000_000_000)
        askedEnd = max(askedEnd ?? asked, asked)
        end = max(end ?? asked, asked)
    }
}
