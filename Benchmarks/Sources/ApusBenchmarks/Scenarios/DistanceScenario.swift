import APNsTransport
import Foundation
import Metrics
import PushTestKit
import ServiceClient

/// The client over a long way: answers come 25 ms and 100 ms late, and the pool begins with one connection and grows.
///
/// The reference is h2load with as many connections as the pool may have, and all their streams.
struct DistanceScenario {
    private static let connectionsMaximum = 8
    private static let streams = 1_000
    private static let growthSeconds = Scale.of(20.0, small: 1.0)

    let bench: Workbench
    let report: Report

    func run() async throws {
        for latency in [25, 100] { try await measure(latencyMilliseconds: latency) }
    }

    private func measure(latencyMilliseconds: Int) async throws {
        let simulator = try await bench.startSimulator(
            ["--trusting", "--first-streams", "\(Self.streams)", "--latency", "\(latencyMilliseconds)"])
        defer { simulator.kill() }
        let payload = try bench.payload(bytes: 200)
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        let count = Scale.of(200_000, small: 5_000)
        let reference = try await LoadTool.run(
            on: bench, port: simulator.port, path: "/3/device/\(ClientRun.token)",
            headers: try ClientScenario.headers(source),
            bodyFile: payload.path, count: count, connections: Self.connectionsMaximum, streams: Self.streams)
        let run = ClientRun(
            bench: bench, port: simulator.port, anchor: "anchor.pem", payload: payload.bytes, source: source)
        let (client, load, metrics) = try run.start(
            connections: 1, connectionsMaximum: Self.connectionsMaximum, streams: Self.streams,
            window: Self.connectionsMaximum * Self.streams)
        try await grow(load)
        let figures = try await ClientRun.measure(load, count: count)
        let connections = Self.connectionCount(metrics)
        await client.close()
        let name = "\(latencyMilliseconds)_ms"
        report.add(
            "pushes_per_second_client_\(name)", figures.perSecond, "1/s", reference: reference.perSecond,
            budget: .ratioAtLeast(0.9))
        report.add("cpu_per_push_client_\(name)", figures.microseconds, "µs", reference: reference.microseconds)
        report.add("connections_client_\(name)", Double(connections), "")
    }

    /// Sends until the rate has stopped to rise.
    private func grow(_ load: PushLoad) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var best = 0.0
        var roundsWithoutGain = 0
        while roundsWithoutGain < 4, start.duration(to: clock.now).seconds < Self.growthSeconds {
            let rate = try await ClientRun.measure(load, count: Scale.of(50_000, small: 2_000)).perSecond
            roundsWithoutGain = rate > 1.05 * best ? 0 : roundsWithoutGain + 1
            best = max(best, rate)
        }
    }

    /// The open connections, as the client's own metrics count them.
    private static func connectionCount(_ metrics: MetricsRegistry) -> Int {
        metrics.render().split(separator: "\n")
            .filter { $0.hasPrefix("apus_push_connections{") && $0.contains(#"state="open""#) }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }
}
