import ChangeEvents
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Outcomes while the broker takes no messages")
struct BlockedOutcomeTests {
    private var world = MachineWorld(app: Samples.app(hearing: .all))

    /// An event whose push is accepted, and whose outcome is published.
    private mutating func push(_ name: String) -> [DeliveryTag] {
        world.answerPauses([])
        let tags = world.deliver([MachineWorld.push(name)])
        world.answerWithDevices()
        world.accept()
        return tags
    }

    private mutating func publisherIsBlocked(_ isBlocked: Bool) {
        world.machine.publisherBlocked(isBlocked, at: world.now)
        world.tick()
    }

    /// The last notice about dropped outcomes.
    private var areDropped: Bool? {
        world.dispatchNotices.compactMap { notice in
            if case .outcomesDropping(let areDropped, _) = notice { areDropped } else { nil }
        }.last
    }

    @Test("Deliveries wait for their outcomes for ten seconds, then for none until messages are taken again")
    mutating func givesUp() {
        let first = push("p1")
        publisherIsBlocked(true)
        #expect(world.machine.nextTick.map { $0 <= Samples.monotonic(world.milliseconds + 10_000) } == true)
        world.pass(milliseconds: 9_999)
        #expect(world.settles.isEmpty)
        world.pass(milliseconds: 1)
        #expect(world.settles == first)
        #expect(areDropped == true)
        let published = world.publishes.count
        let second = push("p2")
        #expect(world.settles == first + second && world.publishes.count == published, "it is not even published")
        publisherIsBlocked(false)
        #expect(areDropped == false)
        _ = push("p3")
        #expect(world.settles == first + second && world.publishes.count == published + 1, "this one is waited for")
    }

    @Test("Nothing is said while no outcome is dropped, and the first that is dropped is told")
    mutating func saysNothingWithoutOutcomes() {
        publisherIsBlocked(true)
        world.pass(milliseconds: 10_000)
        #expect(areDropped == nil, "no app has an outcome to lose")
        publisherIsBlocked(false)
        #expect(areDropped == nil)
        publisherIsBlocked(true)
        world.pass(milliseconds: 10_000)
        _ = push("p1")
        #expect(areDropped == true)
        publisherIsBlocked(false)
        #expect(areDropped == false)
    }

    /// A world whose outcomes wait in the registry, which has been asked for outcomes of before.
    private mutating func storeOutcomes() {
        var limits = DispatchLimits()
        limits.storesOutcomes = true
        world = MachineWorld(app: Samples.app(hearing: .all), limits: limits)
        world.tick()
        world.answerFinding([])
    }

    @Test("With a registry that takes them outcomes wait there, and are published when messages are taken again")
    mutating func stored() throws {
        storeOutcomes()
        let first = push("p1")
        publisherIsBlocked(true)
        world.pass(milliseconds: 10_000)
        #expect(world.settles.isEmpty, "the registry has not answered")
        var waiting = world.answerAdding(isKept: true)
        let second = push("p2")
        waiting += world.answerAdding(isKept: true)
        #expect(waiting.count == 2 && world.settles == first + second && areDropped == nil)
        publisherIsBlocked(false)
        let published = world.publishes.count
        world.answerFinding([(7, waiting[0]), (9, waiting[1])])
        let restored = world.publishes.dropFirst(published)
        #expect(restored.map(\.message) == waiting.map(\.message) && restored.allSatisfy { $0.isOptional })
        #expect(world.removedNumbers.isEmpty)
        world.machine.publishesEnded(restored.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
        #expect(world.removedNumbers == [7, 9])
    }

    @Test("Outcomes that the registry does not take either are dropped, and their deliveries end")
    mutating func notStored() {
        storeOutcomes()
        let tags = push("p1")
        publisherIsBlocked(true)
        world.pass(milliseconds: 10_000)
        _ = world.answerAdding(isKept: false)
        #expect(world.settles == tags && areDropped == true)
    }

    @Test("The broker's late answer for an outcome that nobody waits for changes nothing")
    mutating func lateAnswer() {
        let tags = push("p1")
        publisherIsBlocked(true)
        world.pass(milliseconds: 10_000)
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
        #expect(world.settles == tags)
    }
}
