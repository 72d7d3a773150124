import Foundation
import PushTestKit

/// The memory of a worker with a million devices registered and a thousand pushes in flight, and that of one with
/// hundreds of apps.
struct MemoryScenario {
    private static let devices = Scale.of(1_000_000, small: 20_000)
    private static let inFlight = Scale.of(1_000, small: 100)

    private static let events = Scale.of(5_000, small: 500)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000", "--latency", "3000"])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("memory.db"))
        try await bench.apus("topology", "apply")
        let clock = ContinuousClock()
        let start = clock.now
        try await bench.importDevices(Self.devices, into: "memory.db") { $0 }
        report.add(
            "devices_per_second_import_1000000", Double(Self.devices) / start.duration(to: clock.now).seconds, "1/s")
        // Spread over the registry, so that its pages are touched everywhere.
        let file = try bench.write(
            "events.ndjson",
            (0..<Self.events).map { RegisteredDevice.event($0 * (Self.devices / Self.events), syncCount: 1) }
                .joined(separator: "\n") + "\n")
        try await bench.apus("publish", "--file", file)
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.wait("\(Self.inFlight) pushes in flight") {
            try await worker.metric("apus_pushes_in_flight", #"app="chat""#) >= Self.inFlight
        }
        try await worker.wait(forAccepted: Self.events * 3 / 5)
        report.add(
            "resident_memory_1000000_devices_1000_in_flight", try worker.mebibytes("VmRSS"), "MiB",
            budget: .valueAtMost(48))
        await worker.drain(seconds: 10)
        simulator.kill()
        try await AppsMemory(bench: bench, report: report, broker: broker.url).run()
    }
}
