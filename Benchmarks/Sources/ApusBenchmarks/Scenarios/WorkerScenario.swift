import Foundation
import PushTestKit

/// The whole worker between a private RabbitMQ and the simulator: one to one beside a bare consumer, fan-out, latency.
struct WorkerScenario {
    private static let events = Scale.of(120_000, small: 2_000)
    private static let fanoutDevices = Scale.of(60_000, small: 3_000)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("worker.db"))
        try await bench.apus("topology", "apply")
        try await bench.importDevices(Self.events, into: "worker.db") { $0 }
        let tool = try await measureLoadTool(port: simulator.port)
        try await oneToOne(broker: broker, tool: tool)
        try await fanOut(broker: broker, tool: tool)
    }

    private func measureLoadTool(port: UInt16) async throws -> Double {
        let payload = try bench.payload(bytes: 180)
        return try await LoadTool.run(
            on: bench, port: port, path: "/3/device/" + String(repeating: "ab", count: 32),
            headers: [("apns-topic", Workbench.bundleID)], bodyFile: payload.path,
            count: Scale.of(200_000, small: 2_000), connections: 1, streams: 500
        ).microseconds
    }

    private func oneToOne(broker: PrivateRabbitMQ, tool: Double) async throws {
        let file = try bench.write(
            "events.ndjson",
            (0..<Self.events).map { RegisteredDevice.event($0, syncCount: 1) }.joined(separator: "\n") + "\n")
        try await bench.apus("publish", "--file", file)
        let ours = try await bench.runWorker(pushes: Self.events)
        try await bench.apus("publish", "--file", file)
        let bare = try await BareConsumer.run(on: bench, broker: broker, count: Self.events)
        report.add(
            "events_per_second_worker_one_to_one", ours.perSecond, "1/s", reference: bare.messagesPerSecond,
            budget: .ratioAtLeast(0.9))
        report.add(
            "cpu_per_push_worker_one_to_one", ours.microseconds, "µs", reference: tool, budget: .ratioAtMost(2.5))
    }

    private func fanOut(broker: PrivateRabbitMQ, tool: Double) async throws {
        try await bench.importDevices(Self.fanoutDevices, into: "worker.db") { _ in 0 }
        let requests = (0..<3).map { RegisteredDevice.request("f\($0)", identity: 0) }
        let file = try bench.write("fanout.ndjson", requests.joined(separator: "\n") + "\n")
        try await bench.apus("publish", "--file", file)
        let ours = try await bench.runWorker(pushes: 3 * Self.fanoutDevices)
        report.add("cpu_per_push_worker_fan_out", ours.microseconds, "µs", reference: tool, budget: .ratioAtMost(1.5))
        report.add("pushes_per_second_worker_fan_out", ours.perSecond, "1/s")
    }
}
