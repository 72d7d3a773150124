import PushTestKit
import Testing

@testable import FaultLedger

@Suite("When a device was told of a sync count")
struct SyncCountTimesTests {
    @Test("The answer is that of looking at every push")
    func agreesWithTheOracle() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var times = SyncCountTimes()
            var pushes: [(Int, Int64)] = []
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let push = (Int.random(in: 1...8, using: &generator), Int64.random(in: 0...99, using: &generator))
                pushes.append(push)
                times.append(syncCount: push.0, atMilliseconds: push.1)
            }
            times.prepare()
            for syncCount in 0...9 {
                let expected = pushes.filter { $0.0 >= syncCount }.map(\.1).min()
                #expect(times.firstMilliseconds(reaching: syncCount) == expected, "seed \(seed)")
            }
        }
    }
}
