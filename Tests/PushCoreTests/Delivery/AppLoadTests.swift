import PushCore
import Testing

@Suite("Slow apps and busy ones")
struct AppLoadTests {
    @Test("An app that holds more than its share is not slow while its work turns over")
    func busy() {
        var load = AppLoad()
        load.arrived(500)
        for now in 0..<100 as Range<Int64> {
            let isHeld1 = load.isHoldingUp(isOverShare: true, nowMilliseconds: now * 1_000)
            #expect(!isHeld1)
            load.settled(250)
            load.arrived(250)
        }
    }

    @Test("An app whose work does not turn over is slow, but only what exceeds its share is held back")
    func slow() {
        var load = AppLoad()
        load.arrived(500)
        let isHeld2 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 0)
        #expect(!isHeld2)
        load.settled(10)
        let isHeld3 = load.isHoldingUp(isOverShare: true, nowMilliseconds: AppLoad.patienceMilliseconds)
        #expect(!isHeld3)
        let isHeld4 = load.isHoldingUp(isOverShare: true, nowMilliseconds: AppLoad.patienceMilliseconds + 1)
        #expect(isHeld4)
        let isHeld5 = load.isHoldingUp(isOverShare: false, nowMilliseconds: AppLoad.patienceMilliseconds + 2)
        #expect(!isHeld5)
        #expect(load.isSlow, "it stays under watch")
        let isHeld6 = load.isHoldingUp(isOverShare: true, nowMilliseconds: AppLoad.patienceMilliseconds + 3)
        #expect(isHeld6)
    }

    @Test("A slow app is slow no more after a quick turnover, or when nothing of it is left")
    func recovers() {
        var load = AppLoad()
        load.arrived(100)
        _ = load.isHoldingUp(isOverShare: true, nowMilliseconds: 0)
        _ = load.isHoldingUp(isOverShare: true, nowMilliseconds: 6_000)
        #expect(load.isSlow)
        load.settled(99)
        load.arrived(99)
        load.settled(1)
        // That was the late turnover; the next one is quick.
        let isHeld7 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 6_001)
        #expect(isHeld7)
        load.settled(98)
        load.arrived(98)
        load.settled(1)
        let isHeld8 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 7_000)
        #expect(!isHeld8)
        #expect(!load.isSlow)

        _ = load.isHoldingUp(isOverShare: true, nowMilliseconds: 20_000)
        load.settled(load.inHand)
        #expect(!load.isSlow && load.inHand == 0)
    }

    @Test("A clock that is set back begins a new watch")
    func clockSetBack() {
        var load = AppLoad()
        load.arrived(100)
        _ = load.isHoldingUp(isOverShare: true, nowMilliseconds: 1_000_000)
        let isHeld9 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 0)
        #expect(!isHeld9)
        let isHeld10 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 5_000)
        #expect(!isHeld10)
        let isHeld11 = load.isHoldingUp(isOverShare: true, nowMilliseconds: 5_001)
        #expect(isHeld11)
    }
}
