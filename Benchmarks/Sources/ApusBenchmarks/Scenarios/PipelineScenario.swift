import DispatchCore
import Dispatcher
import EventLoop
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import StructuredLogging

/// The pipeline alone, from delivery to acknowledgement: with a real registry, between a broker and a push service in
/// memory.
struct PipelineScenario {
    static let events = Scale.of(60_000, small: 1_000)
    private static let fanOutDevices = Scale.of(30_000, small: 3_000)
    private static let fanOutEvents = Scale.of(10, small: 2)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let costs = try await costs()
        report.add("cpu_per_push_pipeline_one_to_one", costs.oneToOne.microseconds, "µs")
        report.add("cpu_per_push_pipeline_fan_out", costs.fanOut.microseconds, "µs")
    }

    /// Reports allocations instead, in a process that counts them.
    func countAllocations() async throws {
        let costs = try await costs()
        report.add("allocations_per_push_pipeline_one_to_one", costs.oneToOne.allocations, "")
        report.add("allocations_per_push_pipeline_fan_out", costs.fanOut.allocations, "")
    }

    struct Cost {
        var microseconds: Double
        var allocations: Double
    }

    private func costs() async throws -> (oneToOne: Cost, fanOut: Cost) {
        try await bench.importDevices(Self.events, into: "pipeline.db") { $0 }
        let events = (0..<Self.events).map { TestEvents.message(RegisteredDevice.event($0, syncCount: 1)) }
        let oneToOne = try await cost(events, pushes: Self.events)
        try await bench.importDevices(Self.fanOutDevices, into: "pipeline.db") { _ in 0 }
        let requests = (0..<Self.fanOutEvents).map {
            TestEvents.message(RegisteredDevice.request("f\($0)", identity: 0))
        }
        return (oneToOne, try await cost(requests, pushes: Self.fanOutEvents * Self.fanOutDevices))
    }

    /// Measures the cost of each push to this process, until every message has been acknowledged.
    ///
    /// The time before the first message (reading the subscriptions) does not count.
    func cost(_ messages: [Message], pushes: Int, registry: String = "pipeline.db") async throws -> Cost {
        let loop = try EventLoop(name: "dispatch")
        let (settled, continuation) = AsyncStream.makeStream(of: Void.self)
        let adapters = InstantAdapters(messages: messages) { continuation.finish() }
        let metrics = MetricsRegistry()
        let path = bench.folder + "/" + registry
        let instruments = RegistryMetrics(metrics)
        let clients = try ["registry-reads", "registry-writes"].map { name in
            RegistryClient(
                loop: try EventLoop(name: name), registry: try SQLiteRegistry.open(path: path, mode: .readWrite),
                limits: Self.configuration.limits, logger: .silent, metrics: instruments,
                nowMilliseconds: { WallClock.nowMilliseconds() })
        }
        let dispatch = Dispatch(
            loop: loop, configuration: Self.configuration,
            parts: PipelineParts(
                source: adapters, publisher: adapters, transport: adapters, registryReads: [clients[0]],
                registryWrites: clients[1], now: { SystemClocks.now() }),
            metrics: metrics, logger: .silent)
        dispatch.start()
        for await _ in settled {}
        let start = adapters.start
        let spent = ProcessorTime.ownMicroseconds() - start.microseconds
        let allocated = (Allocations.count ?? 0) - start.allocations
        for loop in [loop] + clients.map(\.loop) { loop.stopAndJoin() }
        guard adapters.pushCount == pushes, adapters.strayCount == 0 else {
            throw BenchmarkFailure(
                description: """
                    \(adapters.pushCount) pushes instead of \(pushes), and \(adapters.strayCount) messages to retry \
                    queues or the dead letters
                    """)
        }
        return Cost(microseconds: spent / Double(pushes), allocations: Double(allocated) / Double(pushes))
    }

    static var configuration: PipelineConfiguration {
        let route = AppRoute(
            index: 0, name: "chat", bundleID: Workbench.bundleID, productionRoute: 0, sandboxRoute: 1, courierRoute: 2)
        return PipelineConfiguration(
            apps: [.init(route: route, identityPoolIDs: [TestEvents.pool])],
            retryPolicy: RetryPolicy(
                delaysMilliseconds: [1_000], attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                serverErrorDelayMilliseconds: 0),
            queues: DispatchQueues(
                retry: [1_000: "apus.retry.1s"], fanout: InstantAdapters.fanOutQueue, deadLetter: "apus.dead-letter"))
    }
}
