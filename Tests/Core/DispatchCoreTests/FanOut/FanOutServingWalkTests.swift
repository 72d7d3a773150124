import Essentials
import PushTestKit
import Testing

@testable import DispatchCore

/// Runs the machine in a random world: `ServingWorld` compares each of its actions with a model.
@Suite("Serving large fan-outs, at random")
struct FanOutServingWalkTests {
    @Test(
        "Pages come in order, flows take turns, each chunk is settled once after it is recorded, and none is left",
        arguments: 0..<10 as Range<UInt64>)
    func walks(seed: UInt64) {
        var world = ServingWorld(seed: seed)
        for _ in 0..<1_000 {
            step(&world)
            world.collect()
        }
        if seed.isMultiple(of: 3) { world.drain() }
        finish(&world)
        #expect(world.bench.serving.isEmpty && world.bench.serving.nextDeadline == nil, "seed \(seed)")
        #expect(world.begun.count > 20, "seed \(seed)")
        for (tag, delivery) in world.deliveries {
            let hasToEnd = delivery.isChunk && !delivery.isGone
            world.check(delivery.isReleased, "\(tag) was not released")
            world.check(delivery.endCount == (hasToEnd ? 1 : 0), "\(tag) ended \(delivery.endCount) times")
        }
    }

    private func step(_ world: inout ServingWorld) {
        switch Int.random(in: 0..<100, using: &world.random) {
        case 0..<15: world.arrive()
        case 15..<40:
            let mayServe = ServingWorld.flows.filter { _ in world.chance(80, &world.random) }
            world.ask(mayServe: Set(mayServe))
        case 40..<62: world.answerPage()
        case 62..<84: world.endPage()
        case 84..<90: world.bench.pass(milliseconds: UInt64.random(in: 0...400, using: &world.random))
        case 90..<96: world.answerEndings()
        case 96..<99: world.hang()
        default: if world.chance(30, &world.random) { world.loseSource() }
        }
    }

    /// All answers come.
    private func finish(_ world: inout ServingWorld) {
        world.collect()
        for _ in 0..<10_000 where world.isBusy {
            world.bench.pass(milliseconds: 100)
            world.ask()
            world.answerPage(alwaysResolves: true)
            world.endPage()
            _ = world.bench.serving.flowsHang([], at: world.bench.now, into: &world.bench.actions)
            world.collect()
            world.answerEndings(alwaysRecords: true)
            world.collect()
        }
    }
}
