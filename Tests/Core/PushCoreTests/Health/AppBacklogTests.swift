import PushCore
import Testing

@Suite("Slow apps and busy ones")
struct AppLoadTests {
    private var load = AppBacklog()
    private var othersEnded = 0
    private var now: Int64 = 0

    private mutating func arrived(_ count: Int) {
        load.arrived(count, othersEnded: othersEnded, at: Samples.monotonic(now))
    }

    private mutating func settled(_ count: Int) {
        load.settled(count, othersEnded: othersEnded, at: Samples.monotonic(now))
    }

    /// Looks at the app, of a thousand deliveries that can be in hand.
    private mutating func isHeld(isOverShare: Bool = true) -> Bool {
        load.shouldDefer(
            isOverShare: isOverShare, inHandMaximum: 1_000, othersEnded: othersEnded, at: Samples.monotonic(now))
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
        #expect(!withinShare && load.isSlow, "it stays under watch")
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
        #expect(load.isSlow)
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
        #expect(!afterQuick && !load.isSlow)

        now += 20_000
        _ = isHeld()
        settled(load.unsettled)
        #expect(!load.isSlow && load.unsettled == 0)
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
        #expect(!isWithinShare && !load.isSlow)
    }

    @Test("A silent app is so until it is heard of: an answer, or a delivery that has ended")
    mutating func heardOf() {
        for isAnswer in [true, false] {
            load = AppBacklog()
            arrived(500)
            now += 500
            othersEnded += 100
            let isSilent = isHeld()
            #expect(isSilent)
            if isAnswer { load.wasAnswered(othersEnded: othersEnded, at: Samples.monotonic(now)) } else { settled(1) }
            let isHeard = isHeld()
            #expect(!isHeard && !load.isSlow)
        }
    }

    @Test("Giving up what a silent app holds is no sign of life, and it is remembered for a minute")
    mutating func givenUp() {
        arrived(500)
        now = 500
        othersEnded = 100
        _ = isHeld()
        load.givenUp(500)
        #expect(load.unsettled == 0 && load.isSlow)
        arrived(400)
        let again = isHeld()
        #expect(again)
        load.givenUp(400)
        now = AppBacklog.memoryMilliseconds
        _ = isHeld(isOverShare: false)
        #expect(!load.isSlow)
    }
}
