import Foundation
import PushTestKit

/// One worker on one, two and four work queues, full ones: what the hash exchange and the further queues cost or bring.
///
/// On a machine where the broker and the worker share few processors more queues can bring nothing; that they cost
/// little is what can be seen there.
struct QueueScenario {
    private static let events = Scale.of(40_000, small: 1_000)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        let counts = [1, 2, 4]
        var single: (published: Double, pushed: Double)?
        for (index, count) in counts.enumerated() {
            try bench.writeConfiguration(
                broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("queues.db"),
                workQueues: count)
            try await bench.apus("topology", "apply")
            if index == 0 { try await bench.importDevices(counts.count * Self.events, into: "queues.db") { $0 } }
            let start = ContinuousClock().now
            try await bench.publish(index * Self.events..<(index + 1) * Self.events, to: broker)
            let published = Double(Self.events) / start.duration(to: ContinuousClock().now).seconds
            let pushed = try await pushedPerSecond()
            let name = "\(count)_work_queue\(count == 1 ? "" : "s")"
            report.add("events_per_second_published_\(name)", published, "1/s", reference: single?.published)
            report.add("events_per_second_pushed_\(name)", pushed, "1/s", reference: single?.pushed)
            single = single ?? (published, pushed)
        }
    }

    private func pushedPerSecond() async throws -> Double {
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.wait(forAccepted: 1)
        let clock = ContinuousClock()
        let (start, first) = (clock.now, try await worker.accepted())
        try await worker.wait(forAccepted: Self.events)
        let seconds = start.duration(to: clock.now).seconds
        await worker.drain(seconds: 10)
        return Double(Self.events - first) / seconds
    }
}
