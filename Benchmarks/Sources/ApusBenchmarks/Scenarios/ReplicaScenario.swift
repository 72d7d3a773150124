import Foundation
import PushTestKit

/// Replicas of the worker on one queue, each bound by the way to APNs: 50 ms, and few streams.
///
/// So one worker is far from what a processor can do, and the question is whether eight do eight times as much. The
/// budget holds until the processors are full; how full they are is printed beside.
struct ReplicaScenario {
    private static let latencyMilliseconds = 50
    private static let streams = 20
    private static let connections = 2
    private static let warmUpSeconds = Scale.of(3, small: 1)
    private static let measuredSeconds = Scale.of(8, small: 1)
    private static let counts = Scale.of([1, 2, 4, 8], small: [1, 2])

    /// The most pushes that a worker's streams can carry in a second.
    private static var perSecondMaximum: Int { streams * connections * 1_000 / latencyMilliseconds }

    let bench: Workbench
    let report: Report

    /// The joint throughput of some replicas.
    struct Figures {
        var replicas: Int
        var perSecond: Double
        /// How many processors were busy, with those of the broker and the simulator.
        var processors: Double
    }

    func run() async throws {
        var alone: Double?
        for figures in try await measure(Self.counts) {
            let each = figures.perSecond / Double(figures.replicas)
            let isFull = figures.processors > 0.95 * Double(ProcessInfo.processInfo.activeProcessorCount)
            report.add(
                "events_per_second_each_of_\(figures.replicas)_replicas", each, "1/s", reference: alone ?? each,
                budget: isFull ? nil : .ratioAtLeast(0.9))
            report.add("processors_busy_\(figures.replicas)_replicas", figures.processors, "processors")
            alone = alone ?? each
        }
    }

    /// Measures numbers of replicas, one after the other.
    func measure(_ counts: [Int]) async throws -> [Figures] {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator([
            "--trusting", "--first-streams", "\(Self.streams)", "--max-streams", "\(Self.streams)", "--latency",
            "\(Self.latencyMilliseconds)",
        ])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("replicas.db"),
            connections: Self.connections)
        try await bench.apus("topology", "apply")
        let events = counts.map { Self.events(replicas: $0) }
        try await bench.importDevices(events.reduce(0, +), into: "replicas.db") { $0 }
        var figures: [Figures] = []
        var published = 0
        for (replicas, count) in zip(counts, events) {
            try await bench.publish(published..<published + count, to: broker)
            published += count
            figures.append(try await measure(replicas: replicas))
        }
        return figures
    }

    /// The most events that the replicas can push while they start, while they are measured, and while they end.
    private static func events(replicas: Int) -> Int {
        replicas * perSecondMaximum * (warmUpSeconds + measuredSeconds + 2)
    }

    /// Starts replicas on a full queue, and counts for some seconds what they push together.
    private func measure(replicas: Int) async throws -> Figures {
        let workers = try (0..<replicas).map { _ in try WorkerProcess(in: bench.temporary) }
        for worker in workers { try await worker.wait(forAccepted: Self.perSecondMaximum / 2) }
        let clock = ContinuousClock()
        let (start, busy, first) = (clock.now, ProcessorTime.machineMicroseconds(), try await Self.accepted(workers))
        try await Pause.seconds(Double(Self.measuredSeconds))
        let (seconds, last) = (start.duration(to: clock.now).seconds, try await Self.accepted(workers))
        let spent = ProcessorTime.machineMicroseconds() - busy
        for worker in workers { await worker.drain(seconds: 10) }
        return Figures(
            replicas: replicas, perSecond: Double(last - first) / seconds, processors: spent / 1_000_000 / seconds)
    }

    private static func accepted(_ workers: [WorkerProcess]) async throws -> Int {
        var sum = 0
        for worker in workers { sum += try await worker.accepted() }
        return sum
    }
}
