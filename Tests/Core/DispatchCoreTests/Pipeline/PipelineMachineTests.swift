import ChangeEvents
import Essentials
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The decisions of a pipeline")
struct PipelineMachineTests {
    private static let away = RegistryError(.unavailable, "away")

    @Test("Deliveries that wait together are asked for together, and settled when their pushes have ended")
    func batch() {
        var world = MachineWorld()
        let tags = world.deliver(["1", "2", "3"].map(MachineWorld.push))
        #expect(world.requests.count == 1 && world.questions.count == 3)
        world.answerWithDevices()
        #expect(world.sends.count == 3 && world.settles.isEmpty)
        world.accept()
        #expect(world.settles == tags)
        #expect(world.fates == [.matched, .matched, .matched])
    }

    @Test("One batch is asked for at a time; the next one is asked before the pushes of the first go out")
    func oneBatchAtATime() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("1")])
        world.deliver([MachineWorld.push("2")])
        world.deliver([MachineWorld.push("3")])
        #expect(world.requests.count == 1 && world.questions.map(\.event.event.identifier) == ["1"])
        world.answerWithDevices()
        #expect(world.questions.map(\.event.event.identifier) == ["2", "3"])
    }

    @Test("A batch that the registry could not answer is asked again after a second, and says that it is repeated")
    func registryAway() {
        var world = MachineWorld()
        let tags = world.deliver([MachineWorld.push("1")])
        #expect(world.questions.map(\.isRepeated) == [false])
        world.answer(.failure(Self.away))
        world.deliver([MachineWorld.push("2")])
        #expect(world.requests.isEmpty)
        world.pass(milliseconds: 1_000)
        #expect(world.questions.map(\.isRepeated) == [true])
        #expect(world.questions.map(\.event.delivery.tag) == tags)
        world.answerWithDevices()
        #expect(world.questions.map(\.event.event.identifier) == ["2"])
    }

    @Test("The registry is in trouble while it fails, or leaves a request without an answer for a second")
    func registryTrouble() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("1")])
        world.pass(milliseconds: 999)
        #expect(world.notices.isEmpty)
        world.pass(milliseconds: 1)
        world.pass(milliseconds: 1)
        guard world.notices.count == 1, case .registryIsSlow = world.notices[0] else {
            Issue.record("\(world.notices)")
            return
        }
        world.answerWithDevices()
        #expect(world.notices.count == 1, "an answer that is late says nothing for the registry")
        world.deliver([MachineWorld.push("2")])
        world.answerWithDevices()
        guard world.notices.count == 2, case .registryAnswers = world.notices[1] else {
            Issue.record("\(world.notices)")
            return
        }
    }

    @Test("The answer to a batch whose connection was lost begins nothing, and what comes again is begun once")
    func connectionLost() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("1"), MachineWorld.change("2", count: 1)])
        world.machine.sourceStateChanged(.interrupted(reason: "reset"), at: world.now)
        world.machine.sourceStateChanged(.consuming(epoch: 2), at: world.now)
        let tags = world.deliver(
            [MachineWorld.push("1"), MachineWorld.change("2", count: 1)], epoch: 2, isRedelivered: true)
        #expect(world.requests.count == 2)
        world.answerWithDevices()
        #expect(world.sends.isEmpty)
        world.answerWithDevices()
        #expect(world.sends.count == 2)
        world.accept()
        #expect(world.settles == tags)
    }

    @Test("One event of a dataset is under way at a time; those that wait meanwhile coalesce")
    func orderWithinDataset() {
        var world = MachineWorld()
        world.deliver([MachineWorld.change("1", count: 1)])
        world.deliver([MachineWorld.change("2", count: 2), MachineWorld.change("3", count: 3)])
        world.answerWithDevices()
        #expect(world.requests.isEmpty && world.sends.count == 1)
        world.deliver([MachineWorld.change("4", count: 9, dataset: "other")])
        #expect(world.questions.map(\.event.event.identifier) == ["4"])
        world.answerWithDevices()
        world.accept()
        #expect(world.questions.map(\.event.event.identifier) == ["3"])
        world.answerWithDevices()
        world.accept()
        #expect(world.settles.count == 4)
        #expect(world.fates == [.matched, .matched, .coalesced, .matched])
    }

    @Test("A change that stands for others lives as long as the last of them", arguments: [nil, "90000"])
    func expiryOfCoalesced(other: String?) {
        var world = MachineWorld()
        world.deliver(
            [MachineWorld.change("1", count: 1), MachineWorld.change("2", count: 2)], expirations: [other, "500"])
        world.pass(milliseconds: 400)
        world.answerWithDevices()
        let result = AttemptResult(
            identifier: world.sends[0].identifier, outcome: .answered(PushAnswer(status: 429)),
            durationNanoseconds: 1_000)
        world.machine.pushesEnded([result], at: world.now)
        world.tick()
        // The step of the ladder takes a second, which is more than the newest change has left.
        #expect(world.publishes.map(\.routingKey) == ["apus.retry.1s"])
    }

    @Test("A worker that drains begins nothing that it was not asked to push yet, and ends when all else has ended")
    func drains() {
        var world = MachineWorld()
        let tags = world.deliver([MachineWorld.push("1")])
        world.answerWithDevices()
        world.deliver([MachineWorld.push("2")])
        world.machine.drain(at: world.now)
        world.tick()
        #expect(!world.machine.isDrained)
        world.accept()
        #expect(world.settles == tags && world.machine.isDrained)
        world.answerWithDevices()
        #expect(world.sends.isEmpty && world.machine.isDrained)
    }

    @Test("A message that the broker refused is published again after a second, and not before")
    func repeatsPublishes() throws {
        var world = MachineWorld()
        world.deliver(["no event"])
        let identifier = try #require(world.publishes.first?.identifier)
        world.machine.publishesEnded([(identifier, .refused)], at: world.now)
        world.tick()
        #expect(world.publishes.count == 1)
        #expect(world.machine.nextTick == Samples.monotonic(world.milliseconds + 1_000))
        world.pass(milliseconds: 1_000)
        #expect(world.publishes.map(\.identifier) == [identifier, identifier] && world.settles.isEmpty)
        world.machine.publishesEnded([(identifier, .confirmed)], at: world.now)
        world.tick()
        #expect(world.settles.count == 1)
    }

    @Test("A registry that can only be read lets a large audience be served page by page")
    func plansNothing() {
        var world = MachineWorld()
        let tags = world.deliver([MachineWorld.push("1")])
        #expect(world.questions.map(\.mayBePlanned) == [true])
        world.answer(.success(.resolved([.large(firstDevices: [], known: nil)])))
        guard case .fanOut(.begin) = world.requests.first?.request else {
            Issue.record("\(world.requests)")
            return
        }
        world.answer(.failure(RegistryError(.readOnly, "The disk is full.")))
        #expect(world.questions.map(\.mayBePlanned) == [false])
        #expect(world.questions.map(\.event.delivery.tag) == tags)
        world.answerWithDevices()
        world.accept()
        #expect(world.settles == tags)
    }

    @Test("The wall clock may be set forwards or backwards: nothing is asked, repeated or called slow for it")
    func clockSteps() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("1")])
        for step in [-86_400_000, 86_400_000, 0] as [Int64] {
            let stepped = Moment(
                wall: WallTime(milliseconds: world.milliseconds + step + 86_400_000), monotonic: world.now.monotonic)
            world.machine.tick(at: stepped)
            #expect(world.machine.actions.isEmpty)
        }
    }
}
