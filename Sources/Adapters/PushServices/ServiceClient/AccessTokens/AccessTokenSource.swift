internal import Dispatch
public import Essentials
internal import EventLoop
internal import Glibc
internal import Synchronization

/// The access token of one account (OAuth 2.0, RFC 6749): fetched once, shared by every route with the same account.
///
/// It is fetched on a thread of `AccessTokenThreads`, so that a slow endpoint delays no push, and before it expires, so
/// that no push waits for it. The source has to be stopped.
public final class AccessTokenSource: Authorizer {
    private struct State {
        var schedule = AccessTokenSchedule()
        var token: Authorization?
        var observers: [@Sendable () -> Void] = []
        var isStopped = false
        /// Whether a fetch is under way, or waits for a thread.
        var isFetching = false
        /// Told when the fetch that is under way has ended.
        var stopped: DispatchSemaphore?
    }

    private let threads: AccessTokenThreads
    private let credentials: any AccessTokenCredentials
    private let ended: @Sendable (AccessTokenOutcome) -> Void
    private let clock: @Sendable () -> MonotonicTime
    private let state = Mutex(State())

    /// Creates the source; it fetches nothing before a token is needed.
    ///
    /// - Parameters:
    ///   - credentials: fetch the tokens.
    ///   - clock: a clock that goes on while the machine is suspended.
    ///   - ended: takes the outcome of each fetch, for metrics and logs.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public init(
        _ credentials: some AccessTokenCredentials,
        clock: @escaping @Sendable () -> MonotonicTime = AccessTokenSource.systemClock,
        ended: @escaping @Sendable (AccessTokenOutcome) -> Void = { _ in }
    ) throws(ServiceError) {
        do throws(EventLoopError) {
            threads = try AccessTokenThreads.shared()
        } catch {
            throw ServiceError(.systemFailed, "access tokens cannot be fetched: \(error)")
        }
        self.clock = clock
        self.ended = ended
        self.credentials = credentials
    }

    /// The time since the machine was started, suspensions included.
    public static let systemClock: @Sendable () -> MonotonicTime = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// Fetches no more; returns when a fetch that has begun is over.
    public func stop() {
        let running = state.withLock { state -> DispatchSemaphore? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            if state.isFetching { state.stopped = DispatchSemaphore(value: 0) }
            return state.stopped
        }
        running?.wait()
    }

    /// The token to use now, or why there is none; begins to fetch one with the first call.
    public func authorization() -> AuthorizationState { use { _, _ in } }

    /// The push service called a token expired: another is fetched, unless the last fetch was a moment ago.
    public func authorizationExpired(generation: UInt64) -> AuthorizationState {
        use { state, now in
            // An older one has been replaced already.
            if state.token?.generation == generation { state.schedule.refused(at: now) }
        }
    }

    /// Calls back after each fetch, on the thread that has fetched.
    public func observe(_ changed: @escaping @Sendable () -> Void) {
        state.withLock { $0.observers.append(changed) }
    }

    private func use(_ change: (inout State, MonotonicTime) -> Void) -> AuthorizationState {
        let now = clock()
        let (answer, isDue) = state.withLock { state -> (AuthorizationState, Bool) in
            change(&state, now)
            let availability = state.schedule.needed(at: now)
            let isDue = !state.isStopped && !state.isFetching && state.schedule.due.map { now >= $0 } ?? false
            if isDue { state.isFetching = true }
            return (Self.answer(availability, state.token), isDue)
        }
        if isDue { threads.run { self.fetchIfDue() } }
        return answer
    }

    private static func answer(
        _ availability: AccessTokenSchedule.Availability, _ token: Authorization?
    ) -> AuthorizationState {
        switch (availability, token) {
        case (.valid, let token?): .ready(token)
        case (.valid, nil), (.pending, _): .pending
        case (.none(let failure), _):
            failure.isRefusal ? .refused(reason: failure.reason) : .unavailable(reason: failure.reason)
        }
    }

    /// Fetches a token on a thread that may wait; `isFetching` says so already.
    private func fetchIfDue() {
        let begins = state.withLock { !$0.isStopped && $0.schedule.beginFetch(at: clock()) }
        if begins { take(credentials.fetch()) }
        let stopped = state.withLock { state in
            state.isFetching = false
            return state.stopped
        }
        stopped?.signal()
    }

    private func take(_ outcome: AccessTokenOutcome) {
        let now = clock()
        let (observers, due) = state.withLock { state in
            state.schedule.ended(outcome, at: now)
            if case .granted(let token, _) = outcome {
                state.token = Authorization(
                    generation: (state.token?.generation ?? 0) + 1, keyGeneration: 1,
                    headerValue: Array("Bearer \(token)".utf8))
            }
            return (state.observers, state.schedule.due)
        }
        ended(outcome)
        for changed in observers { changed() }
        let delay = due.map { $0.nanoseconds(since: now) } ?? 0
        threads.wake(afterNanoseconds: delay) { [weak self] in self?.wake() }
    }

    /// The time has come to fetch the next token.
    private func wake() {
        let isDue = state.withLock { state in
            guard !state.isStopped, !state.isFetching else { return false }
            state.isFetching = true
            return true
        }
        if isDue { threads.run { self.fetchIfDue() } }
    }
}
