import Testing

@testable import ChangeQueue

@Suite("When a channel that refuses is given up")
struct RefusalWatchTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("A queue that refuses everything for five seconds asks for a new channel, later ones after ever longer times")
    func asksLaterAndLater() {
        var watch = NackMonitor(patienceSeconds: 5)
        func isRefusedForLong(_ queue: String, _ nanoseconds: UInt64) -> Bool {
            watch.refused(by: queue, nowNanoseconds: nanoseconds)
        }
        var now = Self.second
        for patience in [5, 10, 20, 40, 60, 60] as [UInt64] {
            #expect(!isRefusedForLong("retry", now))
            now += patience * Self.second - 1
            #expect(!isRefusedForLong("retry", now))
            now += 1
            #expect(isRefusedForLong("retry", now))
            watch.channelOpened(becauseOfRefusals: true)
            #expect(!watch.isWatching)
        }
    }

    @Test("A queue that takes something in between starts again, whatever others do")
    func takingEndsTheStreak() {
        var watch = NackMonitor(patienceSeconds: 5)
        func isRefusedForLong(_ queue: String, _ nanoseconds: UInt64) -> Bool {
            watch.refused(by: queue, nowNanoseconds: nanoseconds)
        }
        #expect(!isRefusedForLong("a", 0))
        #expect(!isRefusedForLong("b", 0))
        watch.taken(by: "a")
        watch.taken(by: "c")
        #expect(watch.isWatching)
        #expect(!isRefusedForLong("a", 9 * Self.second))
        #expect(isRefusedForLong("b", 9 * Self.second))
        watch.channelOpened(becauseOfRefusals: true)
        #expect(!isRefusedForLong("a", 10 * Self.second))
        watch.taken(by: "a")
        #expect(!isRefusedForLong("a", 20 * Self.second))
        #expect(isRefusedForLong("a", 25 * Self.second))
    }

    @Test("A connection that was lost for another reason ends all streaks, and lengthens none")
    func otherReasons() {
        var watch = NackMonitor(patienceSeconds: 5)
        func isRefusedForLong(_ queue: String, _ nanoseconds: UInt64) -> Bool {
            watch.refused(by: queue, nowNanoseconds: nanoseconds)
        }
        #expect(!isRefusedForLong("a", 0))
        watch.channelOpened(becauseOfRefusals: false)
        #expect(!isRefusedForLong("a", 8 * Self.second))
        #expect(isRefusedForLong("a", 13 * Self.second))
    }
}
