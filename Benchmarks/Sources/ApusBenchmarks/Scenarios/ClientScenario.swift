import APNsTransport
import Foundation
import PushTestKit
import ServiceClient

/// The APNs client against nghttpd and against the simulator, beside h2load with the same requests.
///
/// The queue, the registry and the rendering of payloads are not measured here.
struct ClientScenario {
    static let rounds = Scale.of(3, small: 1)
    static let streams = 500
    private static let count = Scale.of(200_000, small: 2_000)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let root = bench.folder + "/htdocs/3/device"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try bench.write("htdocs/3/device/\(ClientRun.token)", "")
        let nghttpd = try await startNghttpd()
        try await compare("nghttpd_1_connection", port: nghttpd.port, anchor: "server.pem", connections: 1)
        await nghttpd.stop()
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        try await compare("simulator_1_connection", port: simulator.port, connections: 1)
        try await compare("simulator_4_connections", port: simulator.port, connections: 4, isRateBudgeted: false)
        for size in [1_024, 4_096] {
            try await compare("simulator_\(size)_bytes", port: simulator.port, connections: 1, payloadBytes: size)
        }
        await simulator.stop()
    }

    private func startNghttpd() async throws -> RunningServer {
        try await RunningServer.start(package: "nghttp2-server", in: bench.temporary) { port in
            ["/usr/sbin/nghttpd", "-n1", "-a", "127.0.0.1", "-d", "htdocs", "\(port)", "server.key", "server.pem"]
        }
    }

    /// Measures the client and h2load in turns, so that a slow minute of the machine hits both.
    private func compare(
        _ name: String, port: UInt16, anchor: String = "anchor.pem", connections: Int, payloadBytes: Int = 200,
        isRateBudgeted: Bool = true
    ) async throws {
        let payload = try bench.payload(bytes: payloadBytes)
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        let run = ClientRun(bench: bench, port: port, anchor: anchor, payload: payload.bytes, source: source)
        let headers = try Self.headers(source)
        let count = payloadBytes > 1_000 ? Self.count / 2 : Self.count
        var ours: [LoadTool.Figures] = []
        var reference: [LoadTool.Figures] = []
        for _ in 0..<Self.rounds {
            reference.append(
                try await LoadTool.run(
                    on: bench, port: port, path: "/3/device/\(ClientRun.token)", headers: headers,
                    bodyFile: payload.path,
                    count: count, connections: connections, streams: Self.streams))
            ours.append(try await run.measure(count: count, connections: connections))
        }
        report.add(
            "cpu_per_push_client_\(name)", Median.of(ours.map(\.microseconds)), "µs",
            reference: Median.of(reference.map(\.microseconds)), budget: .ratioAtMost(1.2))
        report.add(
            "pushes_per_second_client_\(name)", Median.of(ours.map(\.perSecond)), "1/s",
            reference: Median.of(reference.map(\.perSecond)), budget: isRateBudgeted ? .ratioAtLeast(0.9) : nil)
    }

    /// The headers of a push, for h2load.
    static func headers(_ source: ProviderTokenSource) throws -> [(String, String)] {
        [
            ("authorization", String(decoding: try source.token().headerValue, as: UTF8.self)),
            ("apns-topic", Workbench.bundleID), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-id", "123e4567-e89b-12d3-a456-426614174000"),
        ]
    }
}
