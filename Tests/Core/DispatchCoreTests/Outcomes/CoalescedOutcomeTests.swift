import ChangeEvents
import Notifications
import Testing

@testable import DispatchCore

@Suite("What backends are told of coalesced pushes")
struct CoalescedOutcomeTests {
    @Test("An event that a newer one stands for is told of, before both deliveries are settled")
    func superseded() throws {
        var world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))
        let tags = world.deliver([MachineWorld.change("e1", count: 1), MachineWorld.change("e2", count: 2)])
        world.answerWithDevices()
        #expect(world.publishes.map(\.routingKey) == ["coalesced.dataset.changed.chat"])
        let coalesced = Outcome(try #require(world.publishes.first))
        #expect(
            coalesced.attribute("subject") == "e1" && coalesced.text.contains(#""datasetName":"notes","syncCount":1"#))
        world.accept()
        #expect(world.publishes.map(\.routingKey).last == "accepted.dataset.changed.chat" && world.settles.isEmpty)
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
        #expect(Set(world.settles.map(\.number)) == Set(tags.map(\.number)))
    }
}
