import Foundation
import PushTestKit

/// The effect of a large fan-out on small events that come while it goes on: from publish to the request at APNs, alone
/// and beside it.
struct FairnessScenario {
    private static let warmUpEvents = Scale.of(5_000, small: 200)
    private static let eventsPerSecond = 1_000.0
    private static let eventsAlone = Scale.of(10_000, small: 300)
    /// Few enough to be over before the fan-out is.
    private static let eventsBeside = Scale.of(3_000, small: 300)
    private static let fanOutDevices = Scale.of(1_000_000, small: 20_000)

    let bench: Workbench
    let report: Report

    /// Once with a push service as far away as APNs is, and once with one that answers at once.
    ///
    /// The second makes broker, worker and push service fill the processors, which they share. There the small events
    /// wait for a processor time and again, in the broker most of all, however little the worker has out; that has no
    /// budget.
    func run() async throws {
        try await run(latencyMilliseconds: 20, suffix: "", budget: .ratioAtMost(2))
        try await run(latencyMilliseconds: 0, suffix: "_full_processors", budget: nil)
    }

    private func run(latencyMilliseconds: Int, suffix: String, budget: Budget?) async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let record = bench.memoryFolder + "/fairness\(suffix).ndjson"
        let simulator = try await bench.startSimulator([
            "--trusting", "--first-streams", "1000", "--latency", "\(latencyMilliseconds)", "--record", record,
        ])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("fairness\(suffix).db"))
        try await bench.apus("topology", "apply")
        let small = Self.warmUpEvents + Self.eventsAlone + Self.eventsBeside
        // The devices after those of the small events all belong to one identity.
        try await bench.importDevices(small + Self.fanOutDevices, into: "fairness\(suffix).db") { min($0, small) }
        // The import's unwritten data would make everything stand still for as long as a tenth of a second.
        sync()
        let worker = try WorkerProcess(in: bench.temporary)
        try await bench.publish(0..<Self.warmUpEvents, to: broker)
        try await worker.wait(forAccepted: Self.warmUpEvents)

        let alone = Self.warmUpEvents..<Self.warmUpEvents + Self.eventsAlone
        let publishedAlone = try await bench.publish(alone, to: broker, perSecond: Self.eventsPerSecond)
        try await worker.wait(forAccepted: alone.upperBound)

        let beside = alone.upperBound..<small
        let fanOut = try bench.write(
            "fairness-fanout.ndjson",
            RegisteredDevice.request("fairness", identity: small) + "\n")
        try await bench.apus("publish", "--file", fanOut)
        try await worker.wait("the fan-out") { try await worker.accepted() > alone.upperBound + 5_000 }
        let start = (time: ContinuousClock().now, accepted: try await worker.accepted())
        let publishedBeside = try await bench.publish(beside, to: broker, perSecond: Self.eventsPerSecond)
        let end = (time: ContinuousClock().now, accepted: try await worker.accepted())
        guard Scale.isSmall || end.accepted < small + Self.fanOutDevices else {
            throw BenchmarkFailure(description: "the fan-out was over before the small events: make it larger")
        }
        try await worker.wait(forAccepted: small + Self.fanOutDevices)
        await worker.drain(seconds: 10)
        await simulator.stop()
        let bulkPushes = end.accepted - start.accepted - Self.eventsBeside
        report.add(
            "pushes_per_second_fan_out_beside\(suffix)", Double(bulkPushes) / start.time.duration(to: end.time).seconds,
            "1/s")
        try addDelays(
            alone: Workbench.delays(in: record, published: publishedAlone, devices: alone),
            beside: Workbench.delays(in: record, published: publishedBeside, devices: beside), suffix: suffix,
            budget: budget)
    }

    private func addDelays(alone: [Double], beside: [Double], suffix: String, budget: Budget?) {
        report.add(
            "publish_to_push_p50_beside_fan_out\(suffix)", Self.share(0.5, of: beside), "ms",
            reference: Self.share(0.5, of: alone))
        report.add(
            "publish_to_push_p99_beside_fan_out\(suffix)", Self.share(0.99, of: beside), "ms",
            reference: Self.share(0.99, of: alone), budget: budget)
    }

    private static func share(_ share: Double, of sorted: [Double]) -> Double {
        sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
