import APNsSimulator
import PushTestKit
import Testing

@Suite("Many replicas", .serialized)
struct ReplicaTests {
    /// Publishes an event for each identity, in parts, so that the load lasts while replicas come and go.
    private static func publish(_ count: Int, to fixture: WorkerFixture) async throws {
        for start in stride(from: 0, to: count, by: 250) {
            try await fixture.publish(
                (start..<min(count, start + 250)).map {
                    WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1)
                })
        }
    }

    @Test(
        "Replicas that are added, told to end, killed and added again under load lose nothing, without a pause",
        arguments: ReplicaRegistry.allCases)
    func comeAndGo(_ registry: ReplicaRegistry) async throws {
        let fixture = try await WorkerFixture(configuration: try await registry.configuration())
        let count = 5_000
        try await registry.register(count, in: fixture)
        let first = try fixture.startWorker()
        _ = try await first.readiness(200)
        async let published: Void = Self.publish(count, to: fixture)
        try await fixture.simulator.waitForAnswers(count / 10)
        let added = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in added { _ = try await worker.readiness(200) }
        for worker in added { try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 1) }
        async let drained = first.drain()
        try await fixture.simulator.waitForAnswers(count * 4 / 10)
        #expect(await drained.exitCode == 0)
        try await fixture.simulator.waitForAnswers(count * 6 / 10)
        await added[0].killHard()
        // The other goes on alone.
        try await fixture.simulator.waitForAnswers(count * 7 / 10)
        let last = try fixture.startWorker()
        _ = try await last.readiness(200)
        try await published
        let accepted = try await fixture.accepted(reachingDevices: count)
        #expect(accepted.count - count <= 1_000, "more duplicates than the prefetch of the one that was killed")
        let identifiers = Dictionary(grouping: accepted, by: \.deviceToken).mapValues { Set($0.map(\.apnsID)) }
        #expect(identifiers.values.allSatisfy { $0.count == 1 }, "a duplicate has an apns-id of its own")
        for worker in [added[1], last] { await worker.drainCleanly() }
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("From one work queue to three and back under load, with a rolling restart each, nothing is lost or repeated")
    func changesWorkQueues() async throws {
        let fixture = try await WorkerFixture()
        let count = 4_000
        try fixture.register(count)
        var worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        async let published: Void = Self.publish(count, to: fixture)
        let original = try fixture.folder.read("apus.toml")
        for (round, queues) in [3, 1].enumerated() {
            try await fixture.simulator.waitForAnswers(count / 8 + round * count / 3)
            try fixture.folder.write(
                "apus.toml", original.replacing("[rabbitmq]", with: "[rabbitmq]\nwork_queues = \(queues)"))
            let before = try await fixture.apus("topology", "apply", "--wait", "0")
            #expect(before.exitCode == 75, "\(before)")
            let next = try fixture.startWorker()
            _ = try await next.readiness(200)
            await worker.drainCleanly()
            worker = next
            let after = try await fixture.apus("topology", "apply", "--wait", "120")
            #expect(after.exitCode == 0, "\(after)")
        }
        try await published
        try await fixture.simulator.waitForAnswers(count)
        await worker.drainCleanly()
        try await fixture.waitForMessages(0)
        let accepted = try await fixture.simulator.recorded()
        #expect(accepted.count == count && Set(accepted.map(\.apnsID)).count == count)
        try await fixture.stop()
    }

    @Test("A worker says that an exchange is missing, and works off what is in the queues")
    func missingExchange() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        try await fixture.publish([WorkerFixture.datasetChanged("e1", identity: 0, syncCount: 1)])
        try await fixture.broker.evaluate(
            """
            Name = rabbit_misc:r(<<"/">>, exchange, <<"\(fixture.namespace).changes">>),
            rabbit_exchange:delete(Name, false, <<"tests">>), ok.
            """)
        let worker = try fixture.startWorker()
        try await fixture.simulator.waitForAnswers(1)
        let end = await worker.drain()
        #expect(end.exitCode == 0)
        let line = end.errors.split(separator: "\n").first { $0.contains("amqp.exchange.missing") } ?? ""
        #expect(line.contains("\(fixture.namespace).changes") && line.contains("apus topology apply"), "\(end.errors)")
        try await fixture.stop()
    }
}

/// The registry that replicas share.
enum ReplicaRegistry: String, CaseIterable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// The lines of the configuration that name it.
    func configuration() async throws -> String {
        switch self {
        case .sqlite: return ""
        case .postgres:
            let server = try await PrivatePostgreSQL.shared()
            return "[registry]\nurl = \"\(server.url(database: try await server.makeDatabase()))\"\n"
        }
    }

    /// Registers devices, each of an identity of its own and subscribed to `notes`.
    func register(_ count: Int, in fixture: WorkerFixture) async throws {
        switch self {
        case .sqlite: try fixture.register(count)
        case .postgres:
            let imported = try await fixture.apus("device", "import", input: WorkerPostgresTests.lines(count))
            try #require(imported.exitCode == 0, "\(imported)")
        }
    }
}
