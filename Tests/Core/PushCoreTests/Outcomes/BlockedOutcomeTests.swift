import Notifications
import PushCore
import Testing

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

    private mutating func publisherChanges(isReady: Bool) {
        world.machine.publisherStateChanged(isReady: isReady, at: world.now)
        world.tick()
    }

    /// What was last told about outcomes that are dropped.
    private var areDropped: Bool? {
        world.dispatchNotices.compactMap { notice in
            if case .outcomesDropping(let areDropped, _) = notice { areDropped } else { nil }
        }.last
    }

    @Test("Deliveries wait for their outcomes for ten seconds, then for none until messages are taken again")
    mutating func givesUp() {
        let first = push("p1")
        publisherChanges(isReady: false)
        #expect(world.machine.nextTick.map { $0 <= Samples.monotonic(world.milliseconds + 10_000) } == true)
        world.pass(milliseconds: 9_999)
        #expect(world.settles.isEmpty)
        world.pass(milliseconds: 1)
        #expect(world.settles == first)
        #expect(areDropped == true)
        let published = world.publishes.count
        let second = push("p2")
        #expect(world.settles == first + second && world.publishes.count == published, "it is not even published")
        publisherChanges(isReady: true)
        #expect(areDropped == false)
        _ = push("p3")
        #expect(world.settles == first + second && world.publishes.count == published + 1, "this one is waited for")
    }

    @Test("The broker's late answer for an outcome that nobody waits for changes nothing")
    mutating func lateAnswer() {
        let tags = push("p1")
        publisherChanges(isReady: false)
        world.pass(milliseconds: 10_000)
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
        #expect(world.settles == tags)
    }

    @Test("An event that comes again after a lost connection is told of, though the publisher is not back yet")
    mutating func reconnecting() {
        publisherChanges(isReady: false)
        world.machine.sourceStateChanged(.interrupted(reason: "lost"), at: world.now)
        world.pass(milliseconds: 60_000)
        world.machine.sourceStateChanged(.consuming(epoch: 2), at: world.now)
        world.answerPauses([])
        world.deliver([MachineWorld.push("p1")], epoch: 2, isRedelivered: true)
        world.answerWithDevices()
        world.accept()
        #expect(world.publishes.count == 1 && world.settles.isEmpty)
    }
}
