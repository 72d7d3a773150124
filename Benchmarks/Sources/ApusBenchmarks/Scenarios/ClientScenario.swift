import APNs
import Foundation
import Metrics
import PushCore

/// The APNs client against nghttpd and against the simulator, beside h2load with the same requests.
///
/// What is not measured here: the queue, the registry and the rendering of payloads.
struct ClientScenario {
    static let count = 200_000
    static let rounds = 3
    static let streams = 500

    let bench: Workbench
    let report: Report

    func run() async throws {
        let token = String(repeating: "ab", count: 32)
        let root = bench.folder + "/htdocs/3/device"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try bench.write("htdocs/3/device/\(token)", "")
        let nghttpd = try startNghttpd()
        try await compare("nghttpd", port: nghttpd.port, anchor: "server.pem", token: token, connections: 1)
        nghttpd.process.endNow()
        let simulator = try bench.startSimulator(["--trusting", "--first-streams", "1000"])
        for connections in [1, 4] {
            try await compare(
                "simulator", port: simulator.port, anchor: "anchor.pem", token: token, connections: connections)
        }
        simulator.process.end()
    }

    private func startNghttpd() throws -> (process: ChildProcess, port: UInt16) {
        let port = UInt16.random(in: 20_000...30_000)
        let process = try ChildProcess(
            "/usr/sbin/nghttpd",
            [
                "-n1", "-a", "127.0.0.1", "-d", bench.folder + "/htdocs", "\(port)", bench.folder + "/server.key",
                bench.folder + "/server.pem",
            ])
        try ListeningPort.wait(port)
        return (process, port)
    }

    private func compare(
        _ server: String, port: UInt16, anchor: String, token: String, connections: Int
    ) async throws {
        let payload = try bench.payload(bytes: 180)
        let source = try ProviderTokenSource(key: bench.key, keyID: Workbench.keyID, teamID: Workbench.teamID)
        let headers = [
            ("authorization", String(decoding: try source.token().headerValue, as: UTF8.self)),
            ("apns-topic", Workbench.bundleID), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-id", "123e4567-e89b-12d3-a456-426614174000"),
        ]
        var ours: [LoadTool.Figures] = []
        var reference: [LoadTool.Figures] = []
        // In turns, so that a slow minute of the machine hits both.
        for _ in 0..<Self.rounds {
            reference.append(
                try LoadTool.run(
                    port: port, path: "/3/device/\(token)", headers: headers, bodyFile: payload.path,
                    count: Self.count, connections: connections, streams: Self.streams))
            ours.append(
                try await runClient(
                    port: port, anchor: anchor, token: token, payload: payload.bytes, connections: connections,
                    source: source))
        }
        let name = "\(server)_\(connections)_connection\(connections == 1 ? "" : "s")"
        let tool = Median.of(reference.map(\.microseconds))
        if server == "simulator", connections == 1 { bench.loadToolMicroseconds = tool }
        report.add(
            "cpu_per_push_client_\(name)", Median.of(ours.map(\.microseconds)), "µs", reference: tool,
            budget: .ratioAtMost(1.2))
        report.add(
            "pushes_per_second_client_\(name)", Median.of(ours.map(\.perSecond)), "1/s",
            reference: Median.of(reference.map(\.perSecond)), budget: connections == 1 ? .ratioAtLeast(0.9) : nil)
    }

    private func runClient(
        port: UInt16, anchor: String, token: String, payload: [UInt8], connections: Int, source: ProviderTokenSource
    ) async throws -> LoadTool.Figures {
        var limits = PoolLimits()
        limits.connections = connections
        // A figure is about a number of connections, so the pool may not choose another.
        limits.connectionsMaximum = connections
        limits.streamsMaximum = Self.streams
        let route = try APNsRoute(
            app: "chat", environment: .production, endpoint: "127.0.0.1:\(port)",
            extraTrustAnchorsFile: bench.folder + "/" + anchor, tokenSource: source, limits: limits)
        let client = try APNsClient(
            configuration: APNsClientConfiguration(routes: [route]), logger: .silent, metrics: MetricsRegistry())
        guard let deviceToken = DeviceToken(hexadecimal: token) else { preconditionFailure("64 digits are a token") }
        let content = PushContent(
            payload: payload, topic: Workbench.bundleID, pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        let load = PushLoad(
            client: client, content: content, token: deviceToken, count: Self.count,
            window: Self.streams * connections)
        client.start(handler: load)
        let clock = ContinuousClock()
        let cpu = ProcessorTime.ownMicroseconds()
        let start = clock.now
        let accepted = await load.run()
        let elapsed = start.duration(to: clock.now)
        let spent = ProcessorTime.ownMicroseconds() - cpu
        await client.close()
        guard accepted == Self.count else {
            throw ChildProcess.Failure(description: "only \(accepted) of \(Self.count) pushes were accepted")
        }
        return LoadTool.Figures(
            perSecond: Double(Self.count) / elapsed.seconds, microseconds: spent / Double(Self.count))
    }
}
