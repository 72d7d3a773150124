import ChangeEvents
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

/// Planners over a registry in memory: an audience of positions 1 to n, some of which leave while it is planned.
struct FanOutPlannerTests {
    /// The published chunks of planners that may end at any step.
    private struct World {
        let registry = InMemoryRegistry()
        let event = FanOutEvent(
            digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1",
            type: "push.requested")
        var generator: SeededGenerator
        var positions: [Int64]
        var published: [FanOutChunk] = []
        var isFinished = false
        var now: Int64 = 1_000_000

        init(seed: UInt64, count: Int) {
            generator = SeededGenerator(seed: seed)
            positions = (0..<count).map { Int64($0 + 1) }
        }

        mutating func planner(_ identifier: Int64) throws -> FanOutPlanner {
            FanOutPlanner(
                try registry.beginFanOut(event, planner: identifier, nowMilliseconds: now), planner: identifier)
        }

        /// Takes one step.
        mutating func step(_ planner: inout FanOutPlanner, _ identifier: Int64, chunkSize: Int) throws {
            let number = planner.fanOut.number
            switch planner.step {
            case .ask:
                planner.fanOutRead(try registry.beginFanOut(event, planner: identifier, nowMilliseconds: now))
            case .find(let after):
                let rest = positions.filter { $0 > after?.position ?? 0 }
                let found = rest.prefix(chunkSize)
                let end = rest.count > chunkSize ? found.last.map { AudienceCursor(position: $0) } : nil
                planner.chunkFound(through: end, subscriptions: [], deviceCount: found.count)
            case .save(let chunks):
                planner.planSaved(
                    try registry.planChunks(chunks, of: number, planner: identifier, nowMilliseconds: now))
            case .read(let after, let limit):
                planner.unpublishedRead(try registry.chunks(of: number, after: after, limit: limit))
            case .publish(let chunks):
                published += chunks
                planner.published()
            case .waitForConfirms: planner.chunkConfirmed()
            case .record(let through):
                planner.fanOutRead(
                    try registry.chunksPublished(
                        through: through, of: number, planner: identifier, nowMilliseconds: now))
            case .waitForOther:
                now += 1_000
                planner.asked()
            case .finish: isFinished = true
            }
        }
    }

    @Test("One planner publishes the whole audience, in chunks that follow each other", arguments: [1, 10, 99, 731])
    func plansEverything(_ count: Int) throws {
        var world = World(seed: 1, count: count)
        var planner = try world.planner(7)
        while !world.isFinished { try world.step(&planner, 7, chunkSize: 10) }
        #expect(world.published.map(\.number) == Array(1...(count + 9) / 10))
        #expect(world.published.map(\.after) == [nil] + world.published.dropLast().map(\.through))
        #expect(world.published.last?.through == nil)
        #expect(world.published.reduce(0) { $0 + $1.deviceCount } == count)
        #expect(try world.registry.fanOut(planner.fanOut.number)?.state == .planned)
    }

    @Test("The first chunk is published at once, and later ones in batches")
    func beginsEarly() throws {
        var world = World(seed: 1, count: 1_000)
        var planner = try world.planner(7)
        var batches: [Int] = []
        while !world.isFinished {
            if case .publish(let chunks) = planner.step { batches.append(chunks.count) }
            try world.step(&planner, 7, chunkSize: 10)
        }
        #expect(batches == [1, 2, 4, 8, 16, 16, 16, 16, 16, 5])
    }

    @Test("Planners that end at any step, and several at a time, publish the same chunks", arguments: 0..<60)
    func survivesPlanners(_ round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var world = World(seed: seed, count: 400)
        var planners: [(identifier: Int64, planner: FanOutPlanner)] = []
        var last: Int64 = 0
        while !world.isFinished {
            if planners.isEmpty || planners.count < 3 && Int.random(in: 0..<20, using: &world.generator) == 0 {
                last += 1
                planners.append((last, try world.planner(last)))
            }
            let place = Int.random(in: 0..<planners.count, using: &world.generator)
            try world.step(&planners[place].planner, planners[place].identifier, chunkSize: 10)
            if Int.random(in: 0..<25, using: &world.generator) == 0 { planners.remove(at: place) }
            // Devices leave meanwhile, so that a range that is looked for again would end elsewhere.
            if Int.random(in: 0..<10, using: &world.generator) == 0 {
                world.positions.remove(at: Int.random(in: 0..<world.positions.count, using: &world.generator))
            }
        }
        let chunks = Set(world.published).sorted { $0.number < $1.number }
        #expect(chunks.map(\.number) == Array(1...chunks.count), "seed \(seed)")
        #expect(chunks.map(\.after) == [nil] + chunks.dropLast().map(\.through), "seed \(seed)")
        #expect(chunks.last?.through == nil, "seed \(seed)")
    }

    @Test("A fan-out that is cancelled is planned no further")
    func stopsWhenCancelled() throws {
        var world = World(seed: 1, count: 1_000)
        var planner = try world.planner(7)
        while world.published.isEmpty { try world.step(&planner, 7, chunkSize: 10) }
        _ = try world.registry.cancelFanOut(planner.fanOut.number, nowMilliseconds: world.now)
        while !world.isFinished { try world.step(&planner, 7, chunkSize: 10) }
        #expect(world.published.count == 1)
    }

    @Test("Subscriptions of a chunk survive as bytes, and bytes that are cut off do no harm")
    func subscriptionBytes() {
        let rows: [Int64] = [0, 1, 255, 1 << 40, .max, -1]
        let chunk = FanOutChunk(number: 1, after: nil, through: nil, subscriptions: rows, deviceCount: 6)
        #expect(FanOutChunk.subscriptions(fromBytes: chunk.subscriptionBytes) == rows)
        #expect(FanOutChunk.subscriptions(fromBytes: chunk.subscriptionBytes.dropLast()) == rows.dropLast())
        #expect(FanOutChunk.subscriptions(fromBytes: []).isEmpty)
    }
}
