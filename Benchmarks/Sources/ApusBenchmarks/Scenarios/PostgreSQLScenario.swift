import Foundation
import PostgresRegistry
import PushTestKit
import RegistryCore

/// The worker, one event to one device, with its registry in PostgreSQL: beside it, and a millisecond away.
///
/// A proxy stands before PostgreSQL in both cases. The rounds take turns, so that both see the same machine.
struct PostgreSQLScenario {
    private static let events = Scale.of(60_000, small: 2_000)
    private static let rounds = Scale.of(3, small: 1)
    /// About a millisecond there and back.
    private static let away = ProxyConditions(delayMilliseconds: 0...1)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let server = try await PrivatePostgreSQL.start()
        defer { server.stop() }
        let proxy = try await FaultProxy.start(to: server.port)
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        let direct = server.url(database: try await server.makeDatabase())
        _ = try PostgresRegistry.open(url: direct, mode: .create)
        try await bench.importDevices(Self.events, intoRegistry: direct) { $0 }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port,
            registryURL: direct.replacingOccurrences(of: ":\(server.port)", with: ":\(proxy.port)"))
        try await bench.apus("topology", "apply")
        let file = try bench.write(
            "events.ndjson",
            (0..<Self.events).map { RegisteredDevice.event($0, syncCount: 1) }.joined(separator: "\n") + "\n")
        var beside: [LoadTool.Figures] = []
        var away: [LoadTool.Figures] = []
        for _ in 0..<Self.rounds {
            try await proxy.setConditions(.calm)
            beside.append(try await round(file))
            try await proxy.setConditions(Self.away)
            away.append(try await round(file))
        }
        try await proxy.stop()
        add(beside, away)
    }

    private func round(_ file: String) async throws -> LoadTool.Figures {
        try await bench.apus("publish", "--file", file)
        return try await bench.runWorker(pushes: Self.events)
    }

    private func add(_ beside: [LoadTool.Figures], _ away: [LoadTool.Figures]) {
        let perSecond = Median.of(beside.map(\.perSecond))
        report.add("events_per_second_worker_postgresql", perSecond, "1/s")
        report.add("cpu_per_push_worker_postgresql", Median.of(beside.map(\.microseconds)), "µs")
        report.add(
            "events_per_second_worker_postgresql_1_ms", Median.of(away.map(\.perSecond)), "1/s", reference: perSecond,
            budget: .ratioAtLeast(0.8))
    }
}
