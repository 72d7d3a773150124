import Foundation
import PushTestKit

/// From publish to the request at APNs: at half of the rate that the same machine sustains with publisher, broker,
/// worker and simulator all on it, and at a constant rate.
struct LatencyScenario {
    private static let warmUpEvents = Scale.of(5_000, small: 200)
    private static let fullLoadEvents = Scale.of(60_000, small: 500)
    private static let halfLoadEvents = Scale.of(60_000, small: 500)

    private static let constantPerSecond = Scale.of(5_000, small: 100)
    private static let constantSeconds = Scale.of(20, small: 2)

    let bench: Workbench
    let report: Report

    func run() async throws {
        try await halfLoad()
        try await constantRate()
    }

    private func halfLoad() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let record = bench.memoryFolder + "/latency.ndjson"
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000", "--record", record])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("latency.db"))
        try await bench.apus("topology", "apply")
        let devices = Self.warmUpEvents + Self.fullLoadEvents + Self.halfLoadEvents
        try await bench.importDevices(devices, into: "latency.db") { $0 }
        let worker = try WorkerProcess(in: bench.temporary)
        try await bench.publish(0..<Self.warmUpEvents, to: broker)
        try await worker.wait(forAccepted: Self.warmUpEvents)

        let fullLoad = Self.warmUpEvents..<Self.warmUpEvents + Self.fullLoadEvents
        let start = ContinuousClock().now
        try await bench.publish(fullLoad, to: broker)
        try await worker.wait(forAccepted: fullLoad.upperBound)
        let perSecond = Double(Self.fullLoadEvents) / start.duration(to: ContinuousClock().now).seconds
        report.add("events_per_second_published_and_pushed", perSecond, "1/s")

        let halfLoad = fullLoad.upperBound..<devices
        let published = try await bench.publish(halfLoad, to: broker, perSecond: perSecond / 2)
        try await worker.wait(forAccepted: devices)
        await worker.drain(seconds: 10)
        await simulator.stop()
        let delays = try Workbench.delays(in: record, published: published, devices: halfLoad)
        report.add("publish_to_push_p50_half_load", delays[delays.count / 2], "ms")
        report.add(
            "publish_to_push_p99_half_load", delays[delays.count * 99 / 100], "ms", budget: .valueAtMost(10))
    }

    // MARK: A constant rate

    /// The shown part of the output of `apus load --json`.
    private struct Load: Decodable {
        /// By percentile, in microseconds.
        var pushLatency: [String: Double]
        var confirmLatency: [String: Double]

        enum CodingKeys: String, CodingKey {
            case pushLatency = "push_latency_us"
            case confirmLatency = "confirm_latency_us"
        }
    }

    /// Lets `apus load` publish by a clock, whatever becomes of earlier events; the reference is RabbitMQ's confirm.
    private func constantRate() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let record = bench.memoryFolder + "/constant.ndjson"
        let simulator = try await bench.startSimulator(["--first-streams", "1000", "--record", record])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("constant.db"))
        try await bench.apus("topology", "apply")
        // The worker wants a registry; the load registers its own devices in it.
        try await bench.importDevices(1, into: "constant.db") { $0 }
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.readiness(200)
        let end = try await bench.run(
            CommandRunner.apusPath,
            [
                "load", "--record", record, "--rate", "\(Self.constantPerSecond)", "--time", "\(Self.constantSeconds)",
                "--devices", "10000", "--json",
            ])
        guard end.exitCode == 0, let load = try? JSONDecoder().decode(Load.self, from: Data(end.output.utf8)) else {
            throw BenchmarkFailure(description: "apus load failed: \(end.output.suffix(800))\(end.errors.suffix(800))")
        }
        await worker.drain(seconds: 10)
        let budgets = [("p50", Budget.valueAtMost(1)), ("p99", .valueAtMost(5)), ("p99.9", .valueAtMost(20))]
        for (percentile, budget) in budgets {
            let name = percentile.replacing(".", with: "")
            report.add(
                "publish_to_push_\(name)_constant_rate", (load.pushLatency[percentile] ?? 0) / 1_000, "ms",
                reference: (load.confirmLatency[percentile] ?? 0) / 1_000, budget: budget)
        }
    }
}
