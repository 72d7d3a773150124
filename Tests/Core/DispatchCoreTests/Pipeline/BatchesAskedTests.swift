import ChangeEvents
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Several batches that are asked of the registry at once")
struct BatchesAskedTests {
    private static func world(batches: Int) -> MachineWorld {
        var limits = DispatchLimits()
        limits.batchesAskedMaximum = batches
        return MachineWorld(limits: limits)
    }

    /// Requests for pushes whose names begin with a prefix.
    private static func pushes(_ prefix: String, _ count: Int) -> [String] {
        (0..<count).map { MachineWorld.push("\(prefix)-\($0)") }
    }

    @Test("A further batch is asked when enough deliveries wait, and never more at once than are allowed")
    func asksFurtherBatches() {
        var world = Self.world(batches: 2)
        var tags = world.deliver(Self.pushes("a", 1))
        tags += world.deliver(Self.pushes("b", 31))
        #expect(world.requests.count == 1, "few deliveries wait for the answer")
        tags += world.deliver(Self.pushes("c", 1))
        #expect(world.requests.count == 2)
        tags += world.deliver(Self.pushes("d", 100))
        #expect(world.requests.count == 2)
        while !world.requests.isEmpty {
            world.answerWithDevices()
            world.accept()
        }
        #expect(Set(world.settles) == Set(tags) && world.settles.count == tags.count)
    }

    @Test("Batches may be answered in any order, and an event waits for the one of its dataset in another batch")
    func keepsOrderOfDatasets() {
        var world = Self.world(batches: 2)
        let first = world.deliver([MachineWorld.change("1", count: 1, type: "dataset.deleted")])
        let later = world.deliver(
            [MachineWorld.change("2", count: 2)] + Self.pushes("a", 31))
        #expect(world.requests.count == 2)
        world.answerLastWithDevices()
        world.accept()
        #expect(Set(world.settles) == Set(later.dropFirst()), "the second event of the dataset is not even asked for")
        world.answerWithDevices()
        world.accept()
        #expect(world.settles.last == first[0] && world.questions.map(\.event.delivery.tag) == [later[0]])
        world.answerWithDevices()
        world.accept()
        #expect(world.settles.last == later[0])
    }

    @Test("A batch that was not answered is asked again unchanged, and others that are asked stay so")
    func asksAgain() {
        var world = Self.world(batches: 2)
        let first = world.deliver(Self.pushes("a", 2))
        let second = world.deliver(Self.pushes("b", 32))
        world.answer(.failure(RegistryError(.unavailable, "The registry is away.")))
        #expect(world.requests.count == 1 && world.questions.map(\.event.delivery.tag) == second)
        world.answerWithDevices()
        #expect(world.requests.isEmpty, "nothing is asked before the registry is tried again")
        world.pass(milliseconds: 1_000)
        #expect(world.questions.map(\.event.delivery.tag) == first && world.questions.allSatisfy(\.isRepeated))
        world.answerWithDevices()
        world.accept()
        #expect(Set(world.settles) == Set(first + second))
    }

    @Test("With its connection all asked batches are lost, and their answers begin nothing")
    func forgetsLostBatches() {
        var world = Self.world(batches: 3)
        world.deliver(Self.pushes("a", 1))
        world.deliver(Self.pushes("b", 40))
        world.machine.sourceStateChanged(.consuming(epoch: 2), at: world.now)
        world.tick()
        world.answerWithDevices()
        world.answerWithDevices()
        #expect(world.sends.isEmpty && world.requests.isEmpty)
        let tags = world.deliver(Self.pushes("c", 1), epoch: 2)
        world.answerWithDevices()
        world.accept()
        #expect(world.settles == tags)
    }
}
