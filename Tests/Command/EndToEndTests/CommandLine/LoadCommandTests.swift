import Foundation
import JSON
import PushTestKit
import Testing

@Suite("apus load, between a real RabbitMQ and a worker")
struct LoadCommandTests {
    /// A folder with a configuration for a push service on a port of this machine, and the queues for it.
    private func folder(port: UInt16) async throws -> TemporaryFolder {
        let broker = try await PrivateRabbitMQ.shared()
        let folder = try TemporaryFolder()
        var configuration = TestConfiguration(brokerURLs: [broker.url], apps: [.init(endpoint: "127.0.0.1:\(port)")])
        configuration.broker = "namespace = \"\(PrivateRabbitMQ.makeNamespace())\""
        try folder.write("apus.toml", configuration.text)
        let applied = try await CommandRunner.apus(["topology", "apply"], in: folder)
        try #require(applied.exitCode == 0, "\(applied)")
        return folder
    }

    private func report(_ end: CommandResult) throws -> JSONValue {
        try #require(end.exitCode == 0, "\(end)")
        return try JSONParser().parse(Array(end.output.utf8))
    }

    private func number(_ report: JSONValue, _ group: StaticString, _ name: StaticString) -> Double? {
        let value = report[group]?[name]
        return value?.int64.map(Double.init) ?? value?.double
    }

    @Test("Every kind of event arrives once at the simulator that the command is itself, and its devices go")
    func mixedLoad() async throws {
        let folder = try await folder(port: try FreePorts.find(1)[0])
        let load = try RunningCommand(
            [
                "load", "--profile", "mixed", "--rate", "150", "--arrivals", "poisson", "--time", "3", "--warm-up", "1",
                "--devices", "40", "--audience", "20", "--size", "700", "--producers", "2", "--json", "--html",
                "report.html", "--clean-up",
            ], in: folder)
        try await load.wait(for: "waiting for a worker", in: \.errors)
        let worker = try WorkerProcess(in: folder)
        let end = await load.end()
        let report = try report(end)
        await worker.drainCleanly()
        let pushes = try #require(number(report, "pushes", "accepted"))
        #expect(pushes >= 400 && number(report, "pushes", "missing") == 0)
        #expect(number(report, "pushes", "duplicate") == 0 && number(report, "pushes", "rejected") == 0)
        #expect(number(report, "events", "confirmed") == number(report, "events", "published"))
        let p50 = try #require(number(report, "push_latency_us", "p50"))
        let maximum = try #require(number(report, "push_latency_us", "max"))
        #expect(p50 > 0 && p50 <= maximum && maximum < 60_000_000)
        #expect(try folder.read("report.html").contains("<svg "))
        let devices = try await CommandRunner.apus(["device", "list"], in: folder)
        #expect(devices.exitCode == 0 && !devices.output.contains("apus-load-"), "\(devices)")
    }

    @Test("The capacity is found with the record of a simulator that runs already, and its worker")
    func capacityFromRecord() async throws {
        let keys = try TemporaryFolder()
        let simulator = try await SimulatorProcess.start(in: keys, ["--record", "pushes.ndjson"])
        let folder = try await folder(port: simulator.port)
        for name in ["key.p8", "anchor.pem"] { try folder.write(name, try keys.read(name)) }
        let worker = try WorkerProcess(in: folder)
        let load = try RunningCommand(
            [
                "load", "--find-capacity", "--p99", "20s", "--rate", "50", "--rate-max", "100", "--time", "1",
                "--warm-up", "0", "--devices", "10", "--json", "--record", "\(keys.path)/pushes.ndjson",
            ], in: folder)
        let report = try report(await load.end())
        await worker.drainCleanly()
        await simulator.stop()
        #expect(number(report, "capacity", "held_per_second") == 100)
        #expect(number(report, "pushes", "accepted") == 100)
    }

    @Test("A number of events ends a run before its time")
    func boundedByCount() async throws {
        let folder = try await folder(port: try FreePorts.find(1)[0])
        let load = try RunningCommand(
            [
                "load", "--rate", "100", "--time", "1h", "--warm-up", "0", "--pmessages", "25", "--devices", "5",
                "--json",
            ], in: folder)
        try await load.wait(for: "waiting for a worker", in: \.errors)
        let worker = try WorkerProcess(in: folder)
        let report = try report(await load.end())
        await worker.drainCleanly()
        #expect(number(report, "events", "published") == 25 && number(report, "pushes", "accepted") == 25)
        #expect((report["published_per_second"]?.double ?? 0) > 1)
    }

    @Test("A configuration that pushes to Apple is refused, and a broker elsewhere without consent")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "apus.toml",
            TestConfiguration(brokerURLs: ["amqp://rabbit.example/"], apps: [.init(endpoint: "127.0.0.1:9")]).text)
        let apple = try await CommandRunner.apus(
            ["load", "--set", "app.0.apns.endpoint=api.push.apple.com:443"], in: folder)
        #expect(apple.exitCode == 78 && apple.errors.contains("never sent to Apple"), "\(apple)")
        let standard = try await CommandRunner.apus(["load", "--set", "app.0.apns.endpoint="], in: folder)
        #expect(standard.exitCode == 78 && standard.errors.contains("never sent to Apple"), "\(standard)")
        let remote = try await CommandRunner.apus(["load"], in: folder)
        #expect(remote.exitCode == 64 && remote.errors.contains("--allow-remote"), "\(remote)")
    }

    @Test("A certificate that somebody else made is not overwritten")
    func keepsForeignFiles() async throws {
        let folder = try await folder(port: try FreePorts.find(1)[0])
        try folder.write("anchor.pem", "mine")
        let end = try await CommandRunner.apus(["load", "--devices", "1"], in: folder)
        #expect(end.exitCode == 73 && end.errors.contains("was not written by 'apus load'"), "\(end)")
        #expect(try folder.read("anchor.pem") == "mine")
    }
}
