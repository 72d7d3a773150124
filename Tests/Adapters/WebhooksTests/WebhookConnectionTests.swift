import ChangeQueue
import PushTestKit
import Testing
import Webhooks

@Suite("The connection of webhooks", .timeLimit(.minutes(10)))
struct WebhookConnectionTests {
    /// How many connections of a fixture's services the broker has, by their purpose.
    private func connections(_ fixture: WebhookFixture, _ purpose: String) async throws -> Int {
        let listed = try await fixture.broker.control("list_connections", "client_properties")
        return listed.split(separator: "\n").count { $0.contains("\"\(fixture.names.namespace) \(purpose)\"") }
    }

    @Test("All apps share a connection to RabbitMQ, and each gets its own outcomes at its own pace")
    func oneConnection() async throws {
        let apps = (0..<20).map { "app-\($0)" }
        let fixture = try await WebhookFixture(apps: apps)
        fixture.backend.update { $0.heldPaths = ["/app-0"] }
        let service = try fixture.start(apps.map { try fixture.endpoint($0) })
        for app in apps { try await fixture.publish((0..<30).map { "\(app)-\($0)" }, app: app) }
        for app in apps.dropFirst() { try await fixture.wait(for: 30, at: "/\(app)") }
        #expect(fixture.backend.value.held.count == 8, "one backend that is silent holds only its own")
        #expect(try await connections(fixture, "webhooks") == 1)
        for app in apps.dropFirst() { try await fixture.waitForMessages(0, in: fixture.names.webhook(app: app)) }
        fixture.release()
        try await fixture.wait(for: 30, at: "/app-0")
        #expect(await service.stop(withinSeconds: 60))
        #expect(try await connections(fixture, "webhooks") == 0)
        fixture.end()
    }

    @Test("A queue that is deleted interrupts its own app alone, which goes on when the queue is there again")
    func deletedQueue() async throws {
        let fixture = try await WebhookFixture(apps: ["gone", "well"])
        let service = try fixture.start([fixture.endpoint("gone"), fixture.endpoint("well")])
        try await fixture.publish(["one"], app: "gone")
        try await fixture.wait(for: 1, at: "/gone")
        _ = try await fixture.broker.control("delete_queue", fixture.names.webhook(app: "gone"))
        try await eventually("the word about the queue", equals: true) {
            service.health.endpoints[0].consumptionProblem?.contains("deleted") == true
        }
        try await fixture.publish(["two"], app: "well")
        try await fixture.wait(for: 1, at: "/well")
        try await fixture.waitUntilWell(service)
        #expect(service.health.endpoints[1].consumptionProblem == nil)
        _ = try await fixture.topology.apply(to: fixture.configuration)
        try await fixture.publish(["three"], app: "gone")
        try await fixture.wait(for: 2, at: "/gone")
        #expect(service.health.endpoints[0].consumptionProblem == nil)
        #expect(fixture.requests(at: "/well").count == 1, "nothing of the others came again")
        #expect(await service.stop(withinSeconds: 60))
        fixture.end()
    }

    @Test("A queue that is missing at the start interrupts its own app alone")
    func missingQueue() async throws {
        let fixture = try await WebhookFixture(apps: ["late", "well"])
        _ = try await fixture.broker.control("delete_queue", fixture.names.webhook(app: "late"))
        let service = try fixture.start([fixture.endpoint("late"), fixture.endpoint("well")])
        try await fixture.publish(["one"], app: "well")
        try await fixture.wait(for: 1, at: "/well")
        #expect(service.health.endpoints[0].consumptionProblem?.contains("apus topology apply") == true)
        try await fixture.waitUntilWell(service)
        #expect(await service.stop(withinSeconds: 60))
        fixture.end()
    }
}
