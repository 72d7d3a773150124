import ChangeEvents
import Notifications
import Testing

@testable import DispatchCore

@Suite("Events whose registrations are looked up")
struct OutcomeRegistrationTests {
    private static let events = [
        MachineWorld.push("chat"), MachineWorld.push("mail").replacing(#""app":"chat""#, with: #""app":"mail""#),
        MachineWorld.change("dataset", count: 1),
    ]

    private static func asked(_ world: MachineWorld) -> Set<String> {
        Set(world.questions.filter(\.asksForRegistrations).map(\.event.event.identifier))
    }

    @Test("Registrations are looked up for events whose outcomes a backend wants to hear, and for datasets of any app")
    func asked() {
        var world = MachineWorld(app: Samples.app(hearing: .accepted), others: [Samples.mail])
        world.deliver(Self.events)
        #expect(world.questions.count == 3 && Self.asked(world) == ["chat", "dataset"])
    }

    @Test("No registrations are looked up if no backend wants to hear of pushes")
    func unasked() {
        var world = MachineWorld(others: [Samples.mail])
        world.deliver(Self.events)
        #expect(world.questions.count == 3 && Self.asked(world).isEmpty)
    }
}
