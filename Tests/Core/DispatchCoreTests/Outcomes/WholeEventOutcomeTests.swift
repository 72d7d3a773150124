import Backoffice
import ChangeEvents
import Notifications
import Testing

@testable import DispatchCore

@Suite("What backends are told of events that end before their devices are known")
struct WholeEventOutcomeTests {
    private var world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))

    @Test("An event that cannot be read is told of by its id, app and reason, beside its dead letter")
    mutating func unreadable() throws {
        let tags = world.deliver([
            """
            {"specversion": "1.0", "type": "com.shop.push.requested", "source": "/shop", "id": "bad",
             "data": {"app": "chat", "userIds": ["mei"], "notification": {"titel": "x"}}}
            """
        ])
        let told = try #require(world.publishes.first { $0.isOptional })
        #expect(told.routingKey == "dead-lettered.push.requested.chat")
        let report = try OutcomeReport(told.message)
        #expect(report.eventSource == "/shop" && report.eventIdentifier == "bad" && report.pushes.isEmpty)
        #expect(report.reason == "unknown-field" && report.kind == .deadLettered)
        #expect(world.settles.isEmpty, "the delivery waits for both publishes")
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
        #expect(world.settles == tags)
    }

    @Test("An event that has expired is told of, and its delivery is settled when the broker has the outcome")
    mutating func expired() throws {
        let tags = world.deliver([
            """
            {"specversion": "1.0", "type": "push.requested", "source": "/shop", "id": "late", "data": {"app": "chat",
             "userIds": ["mei"], "notification": {"body": "x"}, "options": {"expiration": 500}}}
            """
        ])
        let told = try #require(world.publishes.first)
        #expect(told.routingKey == "expired.push.requested.chat" && world.settles.isEmpty)
        #expect(try OutcomeReport(told.message).pushes.isEmpty)
        world.machine.publishesEnded([(told.identifier, .confirmed)], at: world.now)
        world.tick()
        #expect(world.settles == tags)
    }

    @Test("Nothing is told to a backend that asked for nothing, or of an event whose app nobody knows")
    mutating func unknown() {
        var silent = MachineWorld()
        silent.deliver([#"{"specversion": "1.0", "type": "push.requested", "id": "1"}"#])
        world.deliver([#"{"specversion": "1.0", "type": "push.requested", "id": "1"}"#])
        #expect(!silent.publishes.contains(where: \.isOptional) && !world.publishes.contains(where: \.isOptional))
        #expect(silent.publishes.count == 1 && world.publishes.count == 1)
    }
}
