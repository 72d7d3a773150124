import ChangeEvents
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The history of events")
struct HistoryTests {
    /// A machine that keeps outcomes, and whose backend wants to hear of dead tokens alone.
    private var world: MachineWorld

    init() {
        world = MachineWorld(app: Samples.app(hearing: .all))
        world.machine.dispatch.toldOutcomes = ["chat": .tokenDead]
    }

    private var asked: [KeptOutcome] {
        world.requests.flatMap { request -> [KeptOutcome] in
            if case .keepOutcomes(let outcomes) = request.request { outcomes } else { [] }
        }
    }

    @Test("Each outcome is kept, and the backend hears of those alone that it asked for")
    mutating func kept() throws {
        let tags = world.deliver([MachineWorld.push("e1")])
        world.answerWithDevices()
        world.accept()
        #expect(asked.map(\.eventIdentifier) == ["e1"])
        #expect(asked.first.map { String(decoding: $0.body, as: UTF8.self).contains(#""outcome":"accepted""#) } == true)
        #expect(world.publishes.isEmpty && world.settles == tags, "nothing waits for the history")
    }

    @Test("Outcomes are kept together, while the registry takes others")
    mutating func together() {
        world.deliver([MachineWorld.push("e1"), MachineWorld.push("e2")])
        world.answerWithDevices()
        world.accept()
        #expect(asked.map(\.eventIdentifier) == ["e1", "e2"])
        world.deliver([MachineWorld.push("e3")])
        world.answerLastWithDevices()
        world.accept()
        #expect(asked.count == 2, "one request at a time")
        world.answer(.success(.outcomesKept))
        #expect(asked.map(\.eventIdentifier) == ["e3"])
    }

    @Test("A registry that does not take them holds up nothing, and what is missing is counted")
    mutating func failing() {
        let tags = world.deliver([MachineWorld.push("e1")])
        world.answerWithDevices()
        world.accept()
        world.answer(.failure(RegistryError(.unavailable, "away")))
        let missing = world.notices.compactMap { notice -> Int? in
            if case .historyLeftOut(let count, _) = notice { count } else { nil }
        }
        #expect(missing == [1] && world.settles == tags)
    }

    @Test("A worker that drains waits until the last outcomes are kept")
    mutating func drains() {
        world.deliver([MachineWorld.push("e1")])
        world.answerWithDevices()
        world.accept()
        world.machine.drain(at: world.now)
        world.tick()
        #expect(!world.machine.isDrained)
        world.answer(.success(.outcomesKept))
        #expect(world.machine.isDrained)
    }
}
