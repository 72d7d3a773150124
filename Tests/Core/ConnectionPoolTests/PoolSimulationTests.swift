import ConnectionPool
import PushTestKit
import Testing

@Suite("Pool: random worlds")
struct PoolSimulationTests {
    @Test("Whatever peers and time do, each push ends once and truly, in order, and no limit is crossed")
    func keepsItsPromisesInRandomWorlds() {
        let base = UInt64.random(in: 0...UInt64.max / 2)
        var answered = 0
        for seed in base..<base + 100 {
            var world = PoolWorld(seed: seed)
            for _ in 0..<1_000 where world.faults.isEmpty { world.step() }
            if world.faults.isEmpty { world.close() }
            #expect(world.faults == [], "seed \(seed)")
            answered += world.answeredCount
            guard world.faults.isEmpty else { return }
        }
        #expect(answered > 10_000, "the worlds must let pushes through, or they show nothing")
    }

    @Test("When the peers behave again, everything that waits goes out")
    func recovers() {
        let base = UInt64.random(in: 0...UInt64.max / 2)
        for seed in base..<base + 50 {
            var world = PoolWorld(seed: seed)
            for _ in 0..<500 { world.step() }
            world.arrive()
            for _ in 0..<2_000 where world.pool.waitingCount + world.pool.inFlightCount > 0 {
                world.decideConnect()
                for number in world.peers.keys.sorted() where world.peers[number]?.isReady == true {
                    world.peers[number]?.streamsMaximum = 5
                    world.peers[number]?.windowBytes = 1_500
                    world.pool.settingsChanged(number, streamsMaximum: 5, nowNanoseconds: world.now)
                    world.pool.windowChanged(number, windowBytes: 1_500)
                }
                world.acknowledgePing()
                world.pump()
                world.answer()
                world.passTime()
            }
            #expect(world.faults == [], "seed \(seed)")
            #expect(world.pool.waitingCount + world.pool.inFlightCount == 0, "seed \(seed)")
        }
    }
}
