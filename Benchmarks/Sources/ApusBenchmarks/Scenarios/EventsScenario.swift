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

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: 1, registryURL: bench.registryURL("events.db"))
        try await bench.apus("topology", "apply")
        let added = try await bench.run(
            CommandRunner.apusPath, ["registry", "token", "add", "shop", "--permission", "publish"])
        let token = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let (server, port) = try await startServer()
        var bare: [BareConsumer.Figures] = []
        var batches: [LoadTool.Figures] = []
        var singles: [LoadTool.Figures] = []
        let batchFile = try bench.write(
            "batch.json", "[" + Array(repeating: BarePublisher.event, count: Self.batch).joined(separator: ",") + "]")
        let singleFile = try bench.write("event.json", BarePublisher.event)
        for _ in 0..<Self.rounds {
            bare.append(
                try await BarePublisher.run(
                    on: bench, broker: broker, count: Self.events))
            try await broker.control("purge_queue", "apus.work")
            func post(_ file: String, _ type: String, requests: Int, connections: Int) async throws -> LoadTool.Figures
            {
                let cpu = ProcessorTime.microseconds(ofProcess: server.command.identifier)
                var figures = try await LoadTool.run(
                    on: bench, port: port, path: "/v1/events",
                    headers: [("content-type", type), ("authorization", "Bearer \(token)")], bodyFile: file,
                    count: requests, connections: min(connections, requests), streams: 1, isPlain: true)
                figures.microseconds =
                    (ProcessorTime.microseconds(ofProcess: server.command.identifier) - cpu) / Double(requests)
                try await broker.control("purge_queue", "apus.work")
                return figures
            }
            batches.append(
                try await post(
                    batchFile, "application/cloudevents-batch+json", requests: Self.events / Self.batch, connections: 8
                ))
            singles.append(
                try await post(
                    singleFile, "application/cloudevents+json", requests: Self.singleEvents, connections: 32))
        }
        await server.drain(seconds: 10)
        let size = Double(Self.batch)
        let (rate, cost) = (Median.of(bare.map(\.messagesPerSecond)), Median.of(bare.map(\.cpuMicroseconds)))
        report.add(
            "events_per_second_http_batches_of_100", Median.of(batches.map(\.perSecond)) * size, "1/s",
            reference: rate, budget: .ratioAtLeast(0.6))
        report.add(
            "cpu_per_event_http_batches_of_100", Median.of(batches.map(\.microseconds)) / size, "µs", reference: cost)
        report.add(
            "events_per_second_http_single", Median.of(singles.map(\.perSecond)), "1/s", reference: rate,
            budget: .ratioAtLeast(0.3))
        report.add("cpu_per_event_http_single", Median.of(singles.map(\.microseconds)), "µs", reference: cost)
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
