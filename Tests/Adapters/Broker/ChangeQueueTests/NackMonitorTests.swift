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

@Suite("When a refused message is published again")
struct RefusedPublishesTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test("The waits double up to five seconds, the last one ends with the patience, and then the message is given up")
    func waitsGrow() {
        var refused = RefusedPublishes(patienceSeconds: 20)
        var now: UInt64 = 7
        var waits: [UInt64] = []
        while let wait = refused.refused(1, nowNanoseconds: now) {
            waits.append(wait / Self.millisecond)
            now += wait
        }
        #expect(waits == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 3_700])
        #expect(now == 7 + 20_000 * Self.millisecond)
        refused.ended(1)
        #expect(refused.count == 0)
        #expect(refused.refused(1, nowNanoseconds: now) == 100 * Self.millisecond)
    }

    @Test("Without patience a message is given up at once")
    func noPatience() {
        var refused = RefusedPublishes(patienceSeconds: 0)
        #expect(refused.refused(1, nowNanoseconds: 5) == nil && refused.count == 0)
    }
}
