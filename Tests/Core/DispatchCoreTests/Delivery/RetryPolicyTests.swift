import Essentials
import Notifications
import Testing

@testable import DispatchCore

@Suite("The retry ladder")
struct RetryPolicyTests {
    private let policy = RetryPolicy(
        delaysMilliseconds: [1_000, 5_000, 30_000, 120_000, 900_000, 3_600_000], attemptsMaximum: 10,
        ageMaximumMilliseconds: 86_400_000, serverErrorDelayMilliseconds: 900_000)

    private func retryState(attempt: Int, firstSeen: Int64 = 0, expiresAt: Int64? = nil) -> RetryState {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: firstSeen)
        retryState.attempt = attempt
        retryState.expiresAt = expiresAt.map { WallTime(milliseconds: $0) }
        return retryState
    }

    private func decide(
        _ cause: Disposition.RetryCause, attempt: Int, after: Int? = nil, firstSeen: Int64 = 0, expiresAt: Int64? = nil,
        now: Int64 = 0
    ) -> RetryPolicy.Decision {
        policy.decide(
            cause, retryAfterSeconds: after,
            retryState: retryState(attempt: attempt, firstSeen: firstSeen, expiresAt: expiresAt),
            at: WallTime(milliseconds: now))
    }

    @Test("Each attempt waits one step longer, and the last step repeats")
    func steps() {
        let delays = (0..<9).map { decide(.throttled, attempt: $0) }
        let expected: [Int64] = [
            1_000, 5_000, 30_000, 120_000, 900_000, 3_600_000, 3_600_000, 3_600_000, 3_600_000,
        ]
        #expect(delays == expected.map { .retry(delayMilliseconds: $0) })
    }

    @Test("The tenth attempt is the last")
    func attemptsEnd() {
        #expect(decide(.throttled, attempt: 9) == .exhausted(reason: "attempts-exhausted"))
        #expect(decide(.throttled, attempt: 8) != .exhausted(reason: "attempts-exhausted"))
    }

    @Test("A server error waits at least the fifteen minutes that Apple asks for")
    func serverError() {
        #expect(decide(.serverError, attempt: 0) == .retry(delayMilliseconds: 900_000))
        #expect(decide(.serverError, attempt: 6) == .retry(delayMilliseconds: 3_600_000))
    }

    @Test("The answer's own wait is respected, up to the longest step")
    func retryAfter() {
        #expect(decide(.throttled, attempt: 0, after: 20) == .retry(delayMilliseconds: 30_000))
        #expect(decide(.throttled, attempt: 0, after: .max) == .retry(delayMilliseconds: 3_600_000))
        #expect(decide(.throttled, attempt: 0, after: -5) == .retry(delayMilliseconds: 1_000))
    }

    @Test("A held app spends no attempt and waits half a minute")
    func held() {
        #expect(decide(.keyRejected, attempt: 0) == .retry(delayMilliseconds: 30_000))
        #expect(decide(.suspectConfiguration, attempt: 9) == .retry(delayMilliseconds: 3_600_000))
    }

    @Test("An outage spends neither attempts nor age, and each wait is as long as all before it, up to fifteen minutes")
    func outage() {
        var retryState = retryState(attempt: 9)
        var now: Int64 = 0
        var delays: [Int64] = []
        for _ in 0..<200 {
            guard
                case .retry(let delay) = policy.decide(
                    .unreachable, retryAfterSeconds: nil, retryState: retryState, at: WallTime(milliseconds: now))
            else {
                Issue.record("given up after \(now) ms")
                return
            }
            delays.append(delay)
            now += delay
            retryState.deferredMilliseconds += delay
        }
        #expect(delays.prefix(5) == [30_000, 30_000, 120_000, 900_000, 900_000])
        #expect(now > policy.ageMaximumMilliseconds)
        retryState.attempt = 0
        #expect(
            policy.decide(.throttled, retryAfterSeconds: nil, retryState: retryState, at: WallTime(milliseconds: now))
                == .retry(delayMilliseconds: 1_000), "the age begins where the outage ended")
    }

    @Test("A push that would be late is expired, and one that is too old is given up")
    func ends() {
        #expect(decide(.throttled, attempt: 0, expiresAt: 1_000, now: 0) == .expired)
        #expect(decide(.throttled, attempt: 0, expiresAt: 1_001, now: 0) == .retry(delayMilliseconds: 1_000))
        #expect(decide(.keyRejected, attempt: 0, now: 86_380_000) == .exhausted(reason: "too-old"))
    }
}
