import APNsTransport
import Notifications
import PushTestKit

/// The clients of FCM and of Web Push, each beside what it has to be close to.
///
/// A message to FCM is measured beside a push to APNs with the same notification, connections and streams, and beside
/// h2load. A message to a browser is measured beside its cryptography alone. All take turns.
struct ServicesScenario {
    private static let rounds = Scale.of(5, small: 1)
    private static let count = Scale.of(200_000, small: 2_000)
    private static let encryptedCount = Scale.of(15_000, small: 300)

    let bench: Workbench
    let report: Report

    func run() async throws {
        try await compareFCM()
        try await compareWebPush()
    }

    // MARK: FCM

    private func compareFCM() async throws {
        let apns = try await bench.startSimulator(
            ["--trusting", "--first-streams", "\(FCMClientRun.streams)", "--max-streams", "\(FCMClientRun.streams)"])
        let fcm = try await SimulatorProcess.startFCM(in: bench.temporary, ["--trusting"])
        for connections in [1, 4] { try await compare(fcm: fcm.port, apns: apns.port, connections: connections) }
        await fcm.stop()
        await apns.stop()
    }

    private func compare(fcm: UInt16, apns: UInt16, connections: Int) async throws {
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        let apnsRun = ClientRun(
            bench: bench, port: apns, anchor: "anchor.pem", payload: try ServiceContent.content(for: .apns).payload,
            source: source)
        let fcmRun = FCMClientRun(bench: bench, port: fcm)
        var ours: [LoadTool.Figures] = []
        var reference: [LoadTool.Figures] = []
        var tool: [LoadTool.Figures] = []
        for _ in 0..<Self.rounds {
            reference.append(
                try await apnsRun.measure(count: Self.count, connections: connections, streams: FCMClientRun.streams))
            ours.append(try await fcmRun.measure(count: Self.count, connections: connections))
            tool.append(try await loadTool(port: fcm, connections: connections))
        }
        let name = connections == 1 ? "fcm_1_connection" : "fcm_\(connections)_connections"
        report.add(
            "cpu_per_push_services_\(name)", Median.of(ours.map(\.microseconds)), "µs",
            reference: Median.of(reference.map(\.microseconds)), budget: .ratioAtMost(1.3))
        report.add(
            "pushes_per_second_services_\(name)", Median.of(ours.map(\.perSecond)), "1/s",
            reference: Median.of(reference.map(\.perSecond)))
        report.add(
            "cpu_per_push_services_\(name)_beside_h2load", Median.of(ours.map(\.microseconds)), "µs",
            reference: Median.of(tool.map(\.microseconds)))
    }

    /// The same messages from h2load.
    private func loadTool(port: UInt16, connections: Int) async throws -> LoadTool.Figures {
        var body: [UInt8] = []
        let (content, token) = (try ServiceContent.content(for: .fcm), try ServiceContent.registrationToken())
        FCMMessageWriter.write(content, to: token, nowSeconds: 0, into: &body)
        let file = try bench.write("fcm-message.json", String(decoding: body, as: UTF8.self))
        return try await LoadTool.run(
            on: bench, port: port, path: "/v1/projects/\(ServiceContent.project)/messages:send",
            headers: [("authorization", "Bearer token"), ("content-type", "application/json")], bodyFile: file,
            count: Self.count, connections: connections, streams: FCMClientRun.streams)
    }

    // MARK: Web Push

    private func compareWebPush() async throws {
        let simulator = try await WebPushClientRun.startSimulator(on: bench)
        let run = try WebPushClientRun(bench: bench, simulator: simulator)
        let encryption = EncryptionRun(run)
        var cryptography: [LoadTool.Figures] = []
        var pool: [Int: [LoadTool.Figures]] = [:]
        var client: [Int: [LoadTool.Figures]] = [:]
        let count = Self.encryptedCount
        for _ in 0..<Self.rounds {
            cryptography.append(try await encryption.measureCryptography(count: count))
            for threads in [1, 2] {
                pool[threads, default: []].append(try await encryption.measurePool(count: count, threads: threads))
                client[threads, default: []].append(try await run.measure(count: count, threads: threads))
            }
        }
        await simulator.stop()
        for (name, figures) in [("encryption", pool), ("client", client)] {
            report.add(
                "cpu_per_push_services_webpush_\(name)", Median.of((figures[1] ?? []).map(\.microseconds)), "µs",
                reference: Median.of(cryptography.map(\.microseconds)), budget: .ratioAtMost(1.15))
            report.add(
                "pushes_per_second_services_webpush_\(name)_2_threads",
                Median.of((figures[2] ?? []).map(\.perSecond)), "1/s",
                reference: Median.of((figures[1] ?? []).map(\.perSecond)))
        }
    }
}
