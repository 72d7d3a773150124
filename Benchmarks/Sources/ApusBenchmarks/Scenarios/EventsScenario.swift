import Foundation
import PushTestKit

/// `POST /v1/events`: how many events a second the registry's API takes, in batches and one by one, beside a publisher
/// in C that speaks AMQP.
struct EventsScenario {
    private static let events = Scale.of(60_000, small: 600)
    private static let singleEvents = Scale.of(20_000, small: 200)
    private static let batch = 100
    private static let rounds = Scale.of(3, small: 1)

    let bench: Workbench
    let report: Report

    /// The figures of all rounds.
    private struct Rounds {
        var bare: [BareConsumer.Figures] = []
        var batches: [LoadTool.Figures] = []
        var singles: [LoadTool.Figures] = []
        var pacedBatches: [LoadTool.Figures] = []
        var pacedSingles: [LoadTool.Figures] = []
    }

    /// The server, and how it is asked.
    private struct Door {
        let broker: PrivateRabbitMQ
        let server: WorkerProcess
        let port: UInt16
        let token: String
        let batchFile: String
        let singleFile: String
    }

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: 1, registryURL: bench.registryURL("events.db"))
        try await bench.apus("topology", "apply")
        let added = try await bench.run(
            CommandRunner.apusPath, ["registry", "token", "add", "shop", "--permission", "publish"])
        let (server, port) = try await startServer()
        let door = Door(
            broker: broker, server: server, port: port,
            token: added.output.trimmingCharacters(in: .whitespacesAndNewlines),
            batchFile: try bench.write(
                "batch.json",
                "[" + Array(repeating: BarePublisher.event, count: Self.batch).joined(separator: ",") + "]"),
            singleFile: try bench.write("event.json", BarePublisher.event))
        var rounds = Rounds()
        for _ in 0..<Self.rounds {
            rounds.bare.append(try await BarePublisher.run(on: bench, broker: broker, count: Self.events))
            try await broker.control("purge_queue", "apus.work")
            let batch = try await postBatches(door, Self.events / Self.batch)
            let single = try await postSingles(door, Self.singleEvents)
            rounds.batches.append(batch)
            rounds.singles.append(single)
            // Each at half the rate that it has just had.
            rounds.pacedBatches.append(
                try await postBatches(door, Self.events / Self.batch / 2, perSecond: batch.perSecond / 2))
            rounds.pacedSingles.append(
                try await postSingles(door, Self.singleEvents / 2, perSecond: single.perSecond / 2))
        }
        await server.drain(seconds: 10)
        report(rounds)
    }

    private func report(_ rounds: Rounds) {
        let size = Double(Self.batch)
        let rate = Median.of(rounds.bare.map(\.messagesPerSecond))
        let cost = Median.of(rounds.bare.map(\.cpuMicroseconds))
        report.add(
            "events_per_second_http_batches_of_100", Median.of(rounds.batches.map(\.perSecond)) * size, "1/s",
            reference: rate, budget: .ratioAtLeast(0.6))
        report.add(
            "cpu_per_event_http_batches_of_100", Median.of(rounds.batches.map(\.microseconds)) / size, "µs",
            reference: cost)
        report.add(
            "events_per_second_http_single", Median.of(rounds.singles.map(\.perSecond)), "1/s", reference: rate,
            budget: .ratioAtLeast(0.3))
        report.add("cpu_per_event_http_single", Median.of(rounds.singles.map(\.microseconds)), "µs", reference: cost)
        for (name, paced) in [("batches_of_100", rounds.pacedBatches), ("single", rounds.pacedSingles)] {
            report.add(
                "http_\(name)_p99_at_half_rate", Median.of(paced.compactMap(\.p99Milliseconds)), "ms",
                budget: .valueAtMost(50))
        }
    }

    private func postBatches(
        _ door: Door, _ requests: Int, perSecond: Double? = nil
    ) async throws -> LoadTool.Figures {
        try await post(
            door, door.batchFile, "application/cloudevents-batch+json", requests, connections: 8, perSecond: perSecond)
    }

    private func postSingles(
        _ door: Door, _ requests: Int, perSecond: Double? = nil
    ) async throws -> LoadTool.Figures {
        try await post(
            door, door.singleFile, "application/cloudevents+json", requests, connections: 32, perSecond: perSecond)
    }

    private func post(
        _ door: Door, _ file: String, _ type: String, _ requests: Int, connections: Int, perSecond: Double?
    ) async throws -> LoadTool.Figures {
        let cpu = ProcessorTime.microseconds(ofProcess: door.server.command.identifier)
        var figures = try await LoadTool.run(
            on: bench, port: door.port, path: "/v1/events",
            headers: [("content-type", type), ("authorization", "Bearer \(door.token)")], bodyFile: file,
            count: requests, connections: min(connections, requests), streams: 1, isPlain: true,
            requestsPerSecond: perSecond)
        figures.microseconds =
            (ProcessorTime.microseconds(ofProcess: door.server.command.identifier) - cpu) / Double(requests)
        try await door.broker.control("purge_queue", "apus.work")
        return figures
    }

    /// Serves the registry's API in a process of its own.
    private func startServer() async throws -> (process: WorkerProcess, port: UInt16) {
        let settings = [
            "registry.listen=127.0.0.1:0", "registry.events=true", "registry.events_per_second=1000000",
            "admin.listen=127.0.0.1:0",
        ]
        let server = try WorkerProcess(
            in: bench.temporary, arguments: ["registry", "--json"] + settings.flatMap { ["--set", $0] })
        try await server.readiness(200, mentioning: #""registry-events","ok":true"#)
        guard let text = server.command.output.firstMatch(of: /"port":([0-9]+)/)?.1, let port = UInt16(text) else {
            throw BenchmarkFailure(description: "apus registry says no port: \(server.command.errors)")
        }
        return (server, port)
    }
}
