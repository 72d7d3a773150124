import Essentials

/// Decides when an access token has to be fetched: a pure state machine that gets the time as an argument.
///
/// - The first token is fetched when one is needed, the next ones five minutes before the present one expires.
/// - While a fetch fails, the present token stays in use until it expires, and the fetch is repeated: after 1, 2, 4 …
///   60 seconds, or later if the endpoint says so.
/// - If the push service calls a token expired, a new one is fetched, but not within a minute of the last: a service
///   that refuses a fresh token refuses the account.
///
/// Only the monotonic clock counts, because the endpoint says how long a token lives, and not until when.
struct AccessTokenSchedule {
    /// How long before its end a token is replaced; of a token that lives shortly, half of its life.
    static let earlyNanoseconds: UInt64 = 300_000_000_000
    /// The least time between the beginning of a fetch and one that a refused token asks for.
    static let replacementNanoseconds: UInt64 = 60_000_000_000
    /// The longest wait after a failure, unless the endpoint asks for a longer one.
    static let retryNanosecondsMaximum: UInt64 = 60_000_000_000

    /// The answer to a caller that needs a token.
    enum Availability: Hashable {
        /// The token that was fetched last is good.
        case valid
        /// The first fetch has not ended, or a refused token is being replaced.
        case pending
        /// The last fetch failed, and nothing is left to use.
        case none(AccessTokenFailure)
    }

    /// How long a token lives, and when it was asked for.
    private struct Life {
        let begin: MonotonicTime
        let end: MonotonicTime
    }

    private var life: Life?
    private var failure: AccessTokenFailure?
    private var failuresInRow = 0
    /// When the fetch began that has not ended yet.
    private var fetchBegin: MonotonicTime?
    /// When the next fetch is due; the first one is due when a token is needed.
    private(set) var due: MonotonicTime?

    /// Somebody needs a token.
    mutating func needed(at now: MonotonicTime) -> Availability {
        if due == nil, fetchBegin == nil { due = now }
        if let life, now < life.end { return .valid }
        return failure.map { .none($0) } ?? .pending
    }

    /// The push service refused the present token.
    mutating func refused(at now: MonotonicTime) {
        guard let life, now.nanoseconds(since: life.begin) >= Self.replacementNanoseconds else { return }
        self.life = nil
        failure = nil
        if fetchBegin == nil { due = now }
    }

    /// Begins a fetch if one is due.
    ///
    /// - Returns: whether the caller has to fetch a token, and then to call `ended`.
    mutating func beginFetch(at now: MonotonicTime) -> Bool {
        guard fetchBegin == nil, let due, now >= due else { return false }
        fetchBegin = now
        self.due = nil
        return true
    }

    /// The fetch has ended.
    ///
    /// - Parameters:
    ///   - outcome: how.
    ///   - now: the time.
    mutating func ended(_ outcome: AccessTokenOutcome, at now: MonotonicTime) {
        let begin = fetchBegin ?? now
        fetchBegin = nil
        switch outcome {
        case .granted(_, let lifeSeconds):
            let nanoseconds = Self.nanoseconds(lifeSeconds)
            life = Life(begin: begin, end: begin.advanced(byNanoseconds: nanoseconds))
            failure = nil
            failuresInRow = 0
            due = begin.advanced(byNanoseconds: nanoseconds - min(Self.earlyNanoseconds, nanoseconds / 2))
        case .failed(let failure):
            self.failure = failure
            failuresInRow += 1
            let wait =
                failure.isRefusal
                ? Self.retryNanosecondsMaximum
                : min(Self.retryNanosecondsMaximum, 1_000_000_000 << UInt64(min(failuresInRow - 1, 6)))
            let asked = Self.nanoseconds(failure.retryAfterSeconds ?? 0)
            due = now.advanced(byNanoseconds: max(wait, asked))
        }
    }

    /// At most a day, whatever an endpoint says.
    private static func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(min(max(0, seconds), 86_400)) * 1_000_000_000 }
}
