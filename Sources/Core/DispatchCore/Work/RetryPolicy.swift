public import Essentials
public import Notifications

/// When a push that could not be delivered is tried again, and when that ends.
///
/// The ladder is a list of delays, one retry queue each. Attempt n waits for the n-th delay (the last one repeats), or
/// for the first delay that its cause demands: the answer's `retry-after`, or `serverErrorDelayMilliseconds` after a
/// 5xx. If no delay is so long, it waits for the last one.
///
/// | attempts had | delays 1s 5s 30s 2m 15m 1h | after a 5xx, 15m demanded |
/// |---|---|---|
/// | 1 | 1 s | 15 min |
/// | 3 | 30 s | 15 min |
/// | 6 and more | 1 h | 1 h |
public struct RetryPolicy: Hashable, Sendable {
    /// The decision about a failed push.
    public enum Decision: Hashable, Sendable {
        /// Requeue it in the retry queue of this delay.
        case retry(delayMilliseconds: Int64)
        /// Its time has passed.
        case expired
        /// It was tried as often, or for as long, as the policy allows; why, for the dead letter.
        case exhausted(reason: String)
    }

    /// The ladder, ascending; never empty.
    public let delaysMilliseconds: [Int64]
    /// The most attempts for one push.
    public let attemptsMaximum: Int
    /// How long after its event was published a push is tried.
    public let ageMaximumMilliseconds: Int64
    /// The least wait after a 5xx; Apple asks for 15 minutes.
    public let serverErrorDelayMilliseconds: Int64
    /// The least wait for a push whose app is suspended, or cannot be reached.
    static let suspensionDelayMilliseconds: Int64 = 30_000
    /// The least wait for a push whose app is slow or paused; as for an outage, each further wait is as long as all
    /// before it.
    static let congestionDelayMilliseconds: Int64 = 5_000
    /// The longest wait that an outage demands: each wait is as long as all before it, up to this.
    ///
    /// So events that an outage of an hour has requeued are published seven or eight times, and are back a quarter of
    /// an hour after its end at the latest.
    static let outageDelayMaximumMilliseconds: Int64 = 900_000

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - delaysMilliseconds: the ladder, ascending, at least one.
    ///   - attemptsMaximum: at least 1.
    ///   - ageMaximumMilliseconds: more than 0.
    ///   - serverErrorDelayMilliseconds: 0 or more.
    public init(
        delaysMilliseconds: [Int64], attemptsMaximum: Int, ageMaximumMilliseconds: Int64,
        serverErrorDelayMilliseconds: Int64
    ) {
        precondition(!delaysMilliseconds.isEmpty && attemptsMaximum > 0, "the configuration was checked before")
        self.delaysMilliseconds = delaysMilliseconds
        self.attemptsMaximum = attemptsMaximum
        self.ageMaximumMilliseconds = ageMaximumMilliseconds
        self.serverErrorDelayMilliseconds = serverErrorDelayMilliseconds
    }

    /// Decides about one push.
    ///
    /// - Parameters:
    ///   - cause: why it failed.
    ///   - retryAfterSeconds: the delay that the answer asked for.
    ///   - retryState: its history; `attempt` counts the attempts before the one that just failed.
    ///   - now: the date.
    /// - Returns: where the push goes.
    public func decide(
        _ cause: Disposition.RetryCause, retryAfterSeconds: Int?, retryState: RetryState, at now: WallTime
    ) -> Decision {
        let attempt = retryState.attempt + (cause.consumesAttempt ? 1 : 0)
        if attempt >= attemptsMaximum { return .exhausted(reason: "attempts-exhausted") }
        let delay = delay(
            attempt: attempt, cause, retryAfterSeconds: retryAfterSeconds,
            deferredMilliseconds: retryState.deferredMilliseconds
        )
        let due = now.advanced(byMilliseconds: delay)
        if let expiresAt = retryState.expiresAt, due >= expiresAt { return .expired }
        // The time of an outage does not count, because outages must not make dead letters.
        if !cause.isOutage, due - retryState.published - retryState.deferredMilliseconds > ageMaximumMilliseconds {
            return .exhausted(reason: "too-old")
        }
        return .retry(delayMilliseconds: delay)
    }

    private func delay(
        attempt: Int, _ cause: Disposition.RetryCause, retryAfterSeconds: Int?, deferredMilliseconds: Int64
    ) -> Int64 {
        if cause.isOutage { return outageDelay(cause, deferredMilliseconds: deferredMilliseconds) }
        let step = delaysMilliseconds[min(max(attempt, 1), delaysMilliseconds.count) - 1]
        var least = max(step, Int64(min(max(retryAfterSeconds ?? 0, 0), 1_000_000)) * 1_000)
        switch cause {
        case .serverError: least = max(least, serverErrorDelayMilliseconds)
        // The monitor of the credentials or of the token has set the wait.
        case .keyRejected where retryAfterSeconds != nil, .suspectConfiguration where retryAfterSeconds != nil: break
        case .keyRejected, .suspectConfiguration, .crowdedOut: least = max(least, Self.suspensionDelayMilliseconds)
        case .addressRefused, .addressUnreachable, .throttled, .serviceUnavailable, .quotaExceeded,
            .providerTokenUpdates, .unanswered, .unreachable, .congested, .paused:
            break
        }
        return firstDelay(notBelow: least)
    }

    private func outageDelay(_ cause: Disposition.RetryCause, deferredMilliseconds: Int64) -> Int64 {
        let least = cause == .unreachable ? Self.suspensionDelayMilliseconds : Self.congestionDelayMilliseconds
        return firstDelay(notBelow: min(max(least, deferredMilliseconds), Self.outageDelayMaximumMilliseconds))
    }

    private func firstDelay(notBelow least: Int64) -> Int64 {
        delaysMilliseconds.first { $0 >= least } ?? delaysMilliseconds[delaysMilliseconds.count - 1]
    }
}
