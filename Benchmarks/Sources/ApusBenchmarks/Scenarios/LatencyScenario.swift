import PushTestKit

/// From publish to the request at APNs, at half of the rate that the same machine sustains with publisher, broker,
/// worker and simulator all on it.
struct LatencyScenario {
    private static let warmUpEvents = Scale.of(5_000, small: 200)
    private static let fullLoadEvents = Scale.of(60_000, small: 500)
    private static let halfLoadEvents = Scale.of(60_000, small: 500)

    let bench: Workbench
    let report: Report

    func run() async throws {
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
}
