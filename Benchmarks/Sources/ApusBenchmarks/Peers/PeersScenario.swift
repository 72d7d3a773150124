import Foundation
import PostgresRegistry
import PushTestKit
import RegistryCore

/// Apus beside workers that others would write for the same job, each alone on a processor, in turns.
///
/// The broker, the database and the simulator have the other processor. Before a worker is measured, each of its pushes
/// is looked at once: it must be the one that the event asks for.
struct PeersScenario {
    private static let rounds = Scale.of(5, small: 1)
    private static let loadToolRequests = Scale.of(200_000, small: 2_000)

    let bench: Workbench
    let report: Report
    /// Makes the events of each run different from those before.
    private let runs = RunCounter()

    /// The servers that all workers use.
    private struct Servers {
        var broker: PrivateRabbitMQ
        var postgreSQL: PrivatePostgreSQL
    }

    /// A workload with its registry.
    private struct Stage {
        var workload: PeerWorkload
        var registry: PeerRegistry
        var url: String

        var name: String { "\(workload.rawValue)_\(registry.rawValue)" }
    }

    func run() async throws {
        try await bench.move(toProcessor: PeerRun.otherProcessor)
        let servers = Servers(broker: try await .start(), postgreSQL: try await .start())
        defer {
            servers.broker.stop()
            servers.postgreSQL.stop()
        }
        for workload in PeerWorkload.allCases {
            for registry in PeerRegistry.allCases {
                let stage = try await prepare(workload, registry, servers)
                try await verify(stage, servers)
                try await measure(stage, servers)
            }
        }
        for line in PeersTable(of: report.results).text.split(separator: "\n") { Report.show(String(line)) }
    }

    // MARK: Steps

    private func prepare(_ workload: PeerWorkload, _ registry: PeerRegistry, _ servers: Servers) async throws -> Stage {
        var url = bench.registryURL("\(workload.rawValue).db")
        if registry == .postgresql {
            url = servers.postgreSQL.url(database: try await servers.postgreSQL.makeDatabase())
            _ = try PostgresRegistry.open(url: url, mode: .create)
        }
        let audience = workload.audience
        try await bench.importDevices(workload.identities * audience, intoRegistry: url) { $0 / audience }
        return Stage(workload: workload, registry: registry, url: url)
    }

    /// Writes what all workers are told.
    private func configure(_ stage: Stage, _ servers: Servers, _ simulator: SimulatorProcess) async throws {
        try bench.writeConfiguration(
            broker: servers.broker.url, simulatorPort: simulator.port, registryURL: stage.url)
        try PeerJob(on: bench, broker: servers.broker, registry: stage.url, simulatorPort: simulator.port)
            .write(on: bench)
        try await bench.apus("topology", "apply")
    }

    /// Fills the queue with events, which are numbered from the number that is returned.
    private func publish(_ count: Int, _ stage: Stage, _ servers: Servers) async throws -> Int {
        let workload = stage.workload
        let first = runs.next(count)
        let load = BenchmarkLoad(count: count) { index in
            let identity = index % workload.identities
            guard !workload.isRequested else {
                return LoadMessage(
                    routingKey: "push.requested",
                    body: RegisteredDevice.request("\(first + index)", identity: identity))
            }
            return LoadMessage(
                routingKey: "dataset.changed.\(TestDevices.identity(identity))",
                body: RegisteredDevice.event(identity, syncCount: first + index))
        }
        try await bench.publish(load, to: servers.broker)
        return first
    }

    /// Lets each worker serve some events, and compares all pushes with those that the events ask for.
    private func verify(_ stage: Stage, _ servers: Servers) async throws {
        let record = bench.memoryFolder + "/pushes.ndjson"
        for worker in stage.workload.workers {
            try? FileManager.default.removeItem(atPath: record)
            let simulator = try await bench.startSimulator(["--first-streams", "1000", "--record", record])
            defer { simulator.kill() }
            try await configure(stage, servers, simulator)
            let count = stage.workload == .oneToOne ? 200 : 2
            let first = try await publish(count, stage, servers)
            let pushes = count * stage.workload.audience
            _ = try await PeerRun(
                bench: bench, broker: servers.broker, simulator: simulator, worker: worker, pushes: pushes
            ).measure()
            await simulator.stop()
            try PeerVerification(workload: stage.workload, events: first..<first + count).check(record, of: worker)
        }
    }

    private func measure(_ stage: Stage, _ servers: Servers) async throws {
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        try await configure(stage, servers, simulator)
        var figures: [PeerWorker: [PeerRun.Figures]] = [:]
        var tool: [LoadTool.Figures] = []
        var floor: [Double] = []
        for round in 0..<Self.rounds {
            for worker in stage.workload.workers where worker.takesPart(in: round) {
                let events = worker.events(of: stage.workload)
                _ = try await publish(events, stage, servers)
                let run = PeerRun(
                    bench: bench, broker: servers.broker, simulator: simulator, worker: worker,
                    pushes: events * stage.workload.audience)
                figures[worker, default: []].append(try await run.measure())
            }
            tool.append(try await loadTool(port: simulator.port))
            if stage.name == "one_to_one_sqlite" { floor.append(try await bareConsumer(stage, servers)) }
        }
        PeersReport(report: report, stage: stage.name, workload: stage.workload)
            .add(figures, tool: tool, bareConsumerMicroseconds: floor)
    }

    // MARK: References

    private func loadTool(port: UInt16) async throws -> LoadTool.Figures {
        try await LoadTool.run(
            on: bench, port: port, path: "/3/device/" + String(repeating: "ab", count: 32),
            headers: [
                ("apns-topic", Workbench.bundleID), ("apns-push-type", "background"), ("apns-priority", "5"),
                ("apns-collapse-id", "dataset-" + String(repeating: "0", count: 32)),
            ],
            bodyFile: try bench.payload(bytes: 200).path, count: Self.loadToolRequests, connections: 1, streams: 500,
            processor: PeerRun.workerProcessor)
    }

    /// The processor time of a consumer in C that looks each event's device up, and pushes nothing.
    private func bareConsumer(_ stage: Stage, _ servers: Servers) async throws -> Double {
        let count = Scale.of(20_000, small: 400)
        _ = try await publish(count, stage, servers)
        return try await BareConsumer.run(
            on: bench, broker: servers.broker, count: count, registryFile: String(stage.url.dropFirst("sqlite:".count)),
            processor: PeerRun.workerProcessor
        ).cpuMicroseconds
    }
}

/// Numbers events over all runs.
final class RunCounter {
    private var count = 1

    /// The first of so many numbers that nobody has had.
    func next(_ events: Int) -> Int {
        defer { count += events }
        return count
    }
}
