import Notifications
import Testing

@testable import DispatchCore

@Suite("Push services that serve an app badly")
struct ServiceHealthTests {
    private var health = ServiceHealth(appCount: 2, patienceMilliseconds: 10_000)
    private var counts = [PushCounts(), PushCounts(), PushCounts()]
    private var now: Int64 = 1_000_000
    /// The reported changes, for example `0 silent true`.
    private var told: [String] = []

    private mutating func look() {
        var heard: [String] = []
        health.look(counts, at: Samples.monotonic(now)) { app, trouble, isIn in
            heard.append("\(app) \(trouble.rawValue) \(isIn)")
        }
        told += heard
    }

    /// Lets seconds pass in each of which so many pushes of the second app end.
    private mutating func pass(seconds: Int, accepted: Int = 0, deadTokens: Int = 0, failed: Int = 0) {
        for _ in 0..<seconds {
            now += 1_000
            counts[1].accepted += accepted
            counts[1].tokenDead += deadTokens
            for _ in 0..<failed { health.pushFailed(app: 1, .serviceUnavailable) }
            look()
        }
    }

    @Test("Silence is told once when it begins and once when it ends, and only of the app that it befalls")
    mutating func silence() {
        health.pushWentOut(app: 1, at: Samples.monotonic(now))
        look()
        #expect(health.isWatching && told.isEmpty)
        pass(seconds: 30)
        #expect(told == ["1 silent true"] && health.troubles(of: 1) == .silent && health.troubles(of: 0) == [])
        #expect(health.unanswered(of: 1) == (30_000, 1))
        health.pushWasAnswered(app: 1, at: Samples.monotonic(now))
        health.pushEnded(app: 1, at: Samples.monotonic(now))
        pass(seconds: 1)
        #expect(told == ["1 silent true", "1 silent false"] && health.troubles(of: 1) == [])
    }

    @Test("A service that fails most pushes is told of within a minute, and no more when it accepts most of them again")
    mutating func retried() {
        pass(seconds: 60, accepted: 100, failed: 40)
        #expect(told.isEmpty)
        pass(seconds: 60, failed: 100)
        #expect(told == ["1 retried true"] && health.lastCause(of: 1) == .serviceUnavailable)
        pass(seconds: 60, accepted: 60, failed: 40)
        #expect(told.count == 1, "two fifths are still too many")
        pass(seconds: 90, accepted: 100, failed: 5)
        #expect(told == ["1 retried true", "1 retried false"])
    }

    @Test("A few failures prove nothing, and a trouble ends when nothing is pushed any more")
    mutating func fewFailures() {
        for _ in 0..<RecentEndings.retriedMinimum - 1 { health.pushFailed(app: 1, .unanswered) }
        pass(seconds: 1)
        #expect(told.isEmpty)
        health.pushFailed(app: 1, .unanswered)
        pass(seconds: 1)
        #expect(told == ["1 retried true"])
        pass(seconds: 60)
        #expect(told == ["1 retried true", "1 retried false"] && !health.isWatching)
    }

    @Test("A spike of dead tokens is told of, and a usual share is not")
    mutating func deadTokens() {
        pass(seconds: 120, accepted: 100, deadTokens: 20)
        #expect(told.isEmpty)
        pass(seconds: 60, accepted: 50, deadTokens: 50)
        #expect(told == ["1 dead_tokens true"] && health.troubles(of: 1) == .deadTokens)
        pass(seconds: 90, accepted: 100, deadTokens: 1)
        #expect(told == ["1 dead_tokens true", "1 dead_tokens false"])
    }

    @Test("A silent service explains the retries, which are not told of as well")
    mutating func explained() {
        health.pushWentOut(app: 1, at: Samples.monotonic(now))
        look()
        pass(seconds: 10)
        pass(seconds: 30, failed: 100)
        #expect(told == ["1 silent true"])
    }

    @Test("Looks within a second of the last one change nothing")
    mutating func atMostOnceASecond() {
        health.pushWentOut(app: 0, at: Samples.monotonic(now))
        look()
        pass(seconds: 9)
        now += 999
        look()
        #expect(told.isEmpty)
        now += 1
        look()
        #expect(told == ["0 silent true"])
    }
}
