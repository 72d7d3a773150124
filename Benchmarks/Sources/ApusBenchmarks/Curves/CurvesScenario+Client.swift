import APNsTransport
import Foundation
import PushTestKit
import ServiceClient

/// The client alone: larger payloads, and a longer way to APNs.
extension CurvesScenario {
    private static let rounds = Scale.of(3, small: 1)

    /// Shows the cost of a push with 200 to 4 096 bytes of payload, on one connection.
    func showPayload() async throws {
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        var cost = Curve.Series(name: "client")
        var rate = Curve.Series(name: "client")
        for bytes in Scale.of([200, 512, 1_024, 2_048, 4_096], small: [200, 4_096]) {
            let run = try clientRun(port: simulator.port, payloadBytes: bytes)
            var figures: [LoadTool.Figures] = []
            for _ in 0..<Self.rounds {
                figures.append(try await run.measure(count: Scale.of(100_000, small: 1_000), connections: 1))
            }
            cost.points.append(.init(x: Double(bytes), y: Median.of(figures.map(\.microseconds))))
            rate.points.append(.init(x: Double(bytes), y: Median.of(figures.map(\.perSecond))))
        }
        try show(
            Curve(
                name: "payload-cpu", title: "Processor time of the client by payload", xTitle: "bytes of payload",
                yTitle: "time a push, µs", series: [cost]))
        try show(
            Curve(
                name: "payload-rate", title: "Rate of the client by payload", xTitle: "bytes of payload",
                yTitle: "pushes, 1/s", series: [rate]))
    }

    /// How fast one and eight connections are with answers that come 1 to 200 ms late.
    func showDistance() async throws {
        var series: [Curve.Series] = []
        for connections in [1, 8] {
            var one = Curve.Series(name: connections == 1 ? "1 connection" : "\(connections) connections")
            for milliseconds in Scale.of([0, 1, 2, 5, 10, 20, 50, 100, 200], small: [0, 20]) {
                let rate = try await rate(connections: connections, milliseconds: milliseconds)
                one.points.append(.init(x: Double(milliseconds), y: rate))
            }
            series.append(one)
        }
        try show(
            Curve(
                name: "rtt-rate", title: "Rate of the client by the time of an answer",
                xTitle: "time of an answer, ms", yTitle: "pushes, 1/s", series: series))
    }

    /// The rate of a number of connections with all their streams.
    func rate(connections: Int, milliseconds: Int) async throws -> Double {
        let streams = 1_000
        let simulator = try await bench.startSimulator([
            "--trusting", "--first-streams", "\(streams)", "--latency", "\(milliseconds)",
        ])
        defer { simulator.kill() }
        let run = try clientRun(port: simulator.port, payloadBytes: 200)
        let (client, load, _) = try run.start(
            connections: connections, streams: streams, window: connections * streams)
        _ = try await ClientRun.measure(load, count: 2 * connections * streams)
        // As many as take a second or so, and never fewer than ten for each stream.
        let expected = milliseconds == 0 ? 200_000 : min(200_000, connections * streams * 1_000 / milliseconds)
        let count = Scale.of(max(expected, 10 * connections * streams), small: 1_000)
        let figures = try await ClientRun.measure(load, count: count)
        await client.close()
        return figures.perSecond
    }

    private func clientRun(port: UInt16, payloadBytes: Int) throws -> ClientRun {
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        return ClientRun(
            bench: bench, port: port, anchor: "anchor.pem", payload: try bench.payload(bytes: payloadBytes).bytes,
            source: source)
    }
}
