import EventLoop
import Foundation
import PushTestKit

/// One event to very many devices: how soon it begins, how fast it is, and what it does to the worker's memory.
struct FanOutScenario {
    private static let smallDevices = 1_000
    private static let oneToOneEvents = Scale.of(60_000, small: 1_000)

    let bench: Workbench
    let report: Report

    private var devices: Int { bench.options.fanOutDevices }

    private struct Figures {
        var firstPushMilliseconds: Double
        var perSecond: Double
        var mebibytesMaximum: Double
    }

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        func prepare(_ registry: String, _ devices: Int, identity: (Int) -> Int) async throws {
            try bench.writeConfiguration(
                broker: broker.url, simulatorPort: simulator.port,
                registryURL: bench.registryURL(registry))
            try await bench.apus("topology", "apply")
            try await bench.importDevices(devices, into: registry, identity: identity)
        }
        try await prepare("one-to-one.db", Self.oneToOneEvents) { $0 }
        let oneToOne = try await oneToOnePerSecond()
        try await prepare("small.db", Self.smallDevices) { _ in 0 }
        let small = try await fanOut("small", broker: broker, devices: Self.smallDevices)
        try await prepare("large.db", devices) { _ in 0 }
        let large = try await fanOut("large", broker: broker, devices: devices)
        report.add("pushes_per_second_large_fan_out", large.perSecond, "1/s", reference: oneToOne)
        report.add("time_to_first_push_large_fan_out", large.firstPushMilliseconds, "ms")
        report.add(
            "resident_memory_large_fan_out", large.mebibytesMaximum, "MiB", reference: small.mebibytesMaximum)
    }

    private func oneToOnePerSecond() async throws -> Double {
        let file = try bench.write(
            "events.ndjson",
            (0..<Self.oneToOneEvents).map { RegisteredDevice.event($0, syncCount: 1) }.joined(separator: "\n") + "\n")
        try await bench.apus("publish", "--file", file)
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.wait(forAccepted: 1)
        let start = ContinuousClock().now
        let first = try await worker.accepted()
        try await worker.wait(forAccepted: Self.oneToOneEvents)
        let seconds = start.duration(to: ContinuousClock().now).seconds
        await worker.drain(seconds: 10)
        return Double(Self.oneToOneEvents - first) / seconds
    }

    /// Publishes one event to a worker that is ready, and waits until it has reached its devices.
    private func fanOut(_ identifier: String, broker: PrivateRabbitMQ, devices: Int) async throws -> Figures {
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.readiness(200)
        let load = BenchmarkLoad(count: 1) { _ in
            LoadMessage(routingKey: "push.requested", body: RegisteredDevice.request(identifier, identity: 0))
        }
        let published = try await bench.publish(load, to: broker)[0]
        try await worker.wait("the first push", pauseMilliseconds: 2) { try await worker.accepted() > 0 }
        let first = WallClock.nowMicroseconds()
        let firstCount = try await worker.accepted()
        try await worker.wait(forAccepted: devices, minutes: 30)
        let seconds = Double(WallClock.nowMicroseconds() - first) / 1_000_000
        let mebibytesMaximum = try worker.mebibytes("VmHWM")
        await worker.drain(seconds: 10)
        return Figures(
            firstPushMilliseconds: Double(first - published) / 1_000, perSecond: Double(devices - firstCount) / seconds,
            mebibytesMaximum: mebibytesMaximum)
    }
}
