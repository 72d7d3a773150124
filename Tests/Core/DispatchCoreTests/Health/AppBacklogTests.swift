import Testing

@testable import DispatchCore

@Suite("Slow apps and busy ones")
struct AppLoadTests {
    private var backlog = AppBacklog()
    private var othersEnded = 0
    private var now: Int64 = 0

    private mutating func arrived(_ count: Int) {
        backlog.arrived(count, othersEnded: othersEnded, at: Samples.monotonic(now))
    }

    private mutating func settled(_ count: Int) {
        backlog.settled(count, othersEnded: othersEnded, at: Samples.monotonic(now))
    }

    /// Looks at the app, with a thousand deliveries as the most that can be unsettled.
    private mutating func isHeld(isOverShare: Bool = true) -> Bool {
        backlog.shouldDefer(
            isOverShare: isOverShare, unsettledMaximum: 1_000, othersEnded: othersEnded, at: Samples.monotonic(now))
    }

    // MARK: Turnover

    @Test("An app that holds more than its share is not slow while its work turns over")
    mutating func busy() {
        arrived(500)
        for _ in 0..<100 {
            let isHeld = isHeld()
            #expect(!isHeld)
            settled(250)
            arrived(250)
            now += 1_000
        }
    }

    @Test("An app whose work does not turn over is slow, but only what exceeds its share is held back")
    mutating func slow() {
        arrived(500)
        _ = isHeld()
        settled(10)
        now = AppHealth.patienceMilliseconds
        let atPatience = isHeld()
        #expect(!atPatience)
        now += 1
        let afterPatience = isHeld()
        #expect(afterPatience)
        now += 1
        let withinShare = isHeld(isOverShare: false)
        #expect(!withinShare && backlog.isSlow, "it stays under watch")
        now += 1
        let overShare = isHeld()
        #expect(overShare)
    }

    @Test("A slow app is slow no more after a quick turnover, or when nothing of it is left")
    mutating func recovers() {
        arrived(100)
        _ = isHeld()
        now = 6_000
        _ = isHeld()
        #expect(backlog.isSlow)
        settled(99)
        arrived(99)
        settled(1)
        // That was the late turnover; the next one is quick.
        now += 1
        let afterLate = isHeld()
        #expect(afterLate)
        settled(98)
        arrived(98)
        settled(1)
        now += 1_000
        let afterQuick = isHeld()
        #expect(!afterQuick && !backlog.isSlow)

        now += 20_000
        _ = isHeld()
        settled(backlog.unsettled)
        #expect(!backlog.isSlow && backlog.unsettled == 0)
    }

    // MARK: Silence

    @Test("The more of an app is in hand, the sooner its silence counts", arguments: [1_000, 500, 250, 100])
    mutating func silence(unsettled: Int) {
        arrived(unsettled)
        othersEnded = AppBacklog.othersEndedLeast
        now = AppBacklog.silenceMilliseconds * 1_000 / Int64(unsettled) - 1
        let before = isHeld()
        #expect(!before)
        now += 1
        let after = isHeld()
        #expect(after)
    }

    @Test("Silence says nothing while others are as silent, or while the app holds no more than its share")
    mutating func nobodyIsHeard() {
        arrived(1_000)
        othersEnded = AppBacklog.othersEndedLeast - 1
        now = AppHealth.patienceMilliseconds
        let othersAreSilent = isHeld()
        #expect(!othersAreSilent)
        othersEnded += 1
        let isWithinShare = isHeld(isOverShare: false)
        #expect(!isWithinShare && !backlog.isSlow)
    }

    @Test("A silent app is so until it is heard of: an answer, or a delivery that has ended")
    mutating func heardOf() {
        for isAnswer in [true, false] {
            backlog = AppBacklog()
            arrived(500)
            now += 500
            othersEnded += 100
            let isSilent = isHeld()
            #expect(isSilent)
            if isAnswer {
                backlog.wasAnswered(othersEnded: othersEnded, at: Samples.monotonic(now))
            } else {
                settled(1)
            }
            let isHeard = isHeld()
            #expect(!isHeard && !backlog.isSlow)
        }
    }

    @Test("Giving up what a silent app holds is no sign of life, and it is remembered for a minute")
    mutating func abandoned() {
        arrived(500)
        now = 500
        othersEnded = 100
        _ = isHeld()
        backlog.abandoned(500)
        #expect(backlog.unsettled == 0 && backlog.isSlow)
        arrived(400)
        let again = isHeld()
        #expect(again)
        backlog.abandoned(400)
        now = AppBacklog.memoryMilliseconds
        _ = isHeld(isOverShare: false)
        #expect(!backlog.isSlow)
    }
}
