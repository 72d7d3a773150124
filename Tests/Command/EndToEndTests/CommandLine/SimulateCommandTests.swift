import APNsSimulator
import Glibc
import PushTestKit
import Testing

@Suite("apus simulate")
struct SimulateCommandTests {
    /// Waits until a simulator has said where it is, and gives its port.
    private func port(of simulator: RunningCommand) async throws -> Int {
        try await simulator.wait(for: "\n", in: \.output)
        let digits = simulator.output.split(separator: "\n").first?.split(separator: ":").last ?? ""
        return try #require(Int(digits.prefix { $0.isNumber }), "\(simulator.output)")
    }

    @Test("It makes its key and certificate, answers a worker by Apple's rules, records, and ends on SIGTERM")
    func servesAWorker() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(2)
        try fixture.folder.remove("key.p8")
        try fixture.folder.write(
            "script", #"{"token":"\#(TestDevices.token(1))","answer":"status","status":413,"reason":"Big"}"#)
        let simulator = try RunningCommand(
            [
                "simulate", "--make-key", "key.p8", "--ca-out", "anchor.pem", "--topic", "com.example.chat", "--script",
                "script", "--record", "pushes.ndjson", "--summary", "summary.json",
            ], in: fixture.folder)
        let port = try await port(of: simulator)
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            configuration.replacing("127.0.0.1:\(fixture.simulator.port)", with: "127.0.0.1:\(port)"))
        let worker = try fixture.startWorker()
        try await fixture.publish(
            (0..<2).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 1)
        try await worker.wait(for: "apus_dead_letters_total", toReach: 1)
        await worker.drainCleanly()

        simulator.signal(SIGTERM)
        let end = await simulator.end()
        #expect(end.exitCode == 0 && end.errors.isEmpty, "\(end)")
        #expect(end.output.hasPrefix("ready at https://127.0.0.1:\(port)\n"))
        #expect(end.output.contains("answered     2 requests") && end.output.contains("413          1 Big"), "\(end)")
        let records = try fixture.folder.read("pushes.ndjson").split(separator: "\n")
        #expect(records.count == 2)
        #expect(records.contains { $0.contains(TestDevices.token(0)) && $0.contains(#""status":200"#) })
        #expect(try fixture.folder.read("summary.json").contains(#""accepted":1"#))
        try await fixture.stop()
    }

    @Test(
        "With a name it serves other machines, who find the name in its certificate, and it keeps the key that it made")
    func servesOthers() async throws {
        let folder = try TemporaryFolder()
        let arguments = ["simulate", "--make-key", "key.p8", "--ca-out", "anchor.pem", "--listen", "127.0.0.2:0"]
        let refused = try await CommandRunner.apus(arguments, in: folder)
        #expect(refused.exitCode == 78 && refused.errors.contains("serves this machine only"), "\(refused)")
        let key = try folder.read("key.p8")
        let simulator = try RunningCommand(arguments + ["--host-name", "apns.test"], in: folder)
        let port = try await port(of: simulator)
        let handshake = try await CommandRunner.run(
            "/usr/bin/openssl",
            [
                "s_client", "-connect", "127.0.0.2:\(port)", "-servername", "apns.test", "-verify_hostname",
                "apns.test",
                "-verify_return_error", "-CAfile", "anchor.pem", "-alpn", "h2",
            ], in: folder)
        #expect(handshake.exitCode == 0 && handshake.output.contains("Verification: OK"), "\(handshake)")
        #expect(try folder.read("key.p8") == key)
        simulator.signal(SIGTERM)
        #expect(await simulator.end().exitCode == 0)
    }

    @Test("A trusting one serves h2load, says so as JSON, and ends on SIGINT")
    func servesALoad() async throws {
        let folder = try TemporaryFolder()
        let simulator = try RunningCommand(["simulate", "--trusting", "--loops", "2", "--json"], in: folder)
        try await simulator.wait(for: "\n", in: \.output)
        let digits = simulator.output.split(separator: #""port":"#).last?.prefix { $0.isNumber } ?? ""
        let load = try await CommandRunner.run(
            "/usr/bin/h2load",
            [
                "-n", "100", "-c", "2", "-d", try folder.write("payload", #"{"aps":{"alert":"x"}}"#),
                "https://127.0.0.1:\(digits)/3/device/\(TestDevices.token(1))",
            ], in: folder)
        #expect(load.output.contains("100 succeeded") && load.output.contains("100 2xx"), "\(load)")
        simulator.signal(SIGINT)
        let end = await simulator.end()
        #expect(end.exitCode == 0 && end.output.contains(#""accepted":100"#), "\(end)")
    }

    @Test("It misbehaves as its faults say, which can be changed and asked for while it runs")
    func misbehaves() async throws {
        let folder = try TemporaryFolder()
        try folder.write("faults", #"{"fault":"answer","status":503,"reason":"Busy"}"#)
        let simulator = try RunningCommand(
            ["simulate", "--trusting", "--faults", "faults", "--control", "0"], in: folder)
        let port = try await port(of: simulator)
        let control = simulator.output.split(separator: "controlled at 127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
        let load = [
            "-n", "10", "-d", try folder.write("payload", #"{"aps":{"alert":"x"}}"#),
            "https://127.0.0.1:\(port)/3/device/\(TestDevices.token(1))",
        ]
        let busy = try await CommandRunner.run("/usr/bin/h2load", load, in: folder)
        #expect(busy.output.contains("10 5xx"), "\(busy)")
        let answers = try await CommandRunner.run(
            "/bin/bash",
            [
                "-c",
                """
                exec 3<>/dev/tcp/127.0.0.1/\(control)
                say() { printf '%s\\n' "$@" >&3; }
                say '{"clear":true}' '{"fault":"flood"}' '{"fault":"reset-stream","times":1}' '{"show":true}'
                head -n 4 <&3
                """,
            ], in: folder)
        let lines = answers.output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == #"{"ok":true}"# && lines[2] == lines[0], "\(answers)")
        #expect(lines[1].contains("flood") && lines[3].contains(#""faults":10,"#), "\(answers)")
        let better = try await CommandRunner.run("/usr/bin/h2load", load, in: folder)
        #expect(better.output.contains("9 2xx") && better.output.contains("1 errored"), "\(better)")
        simulator.signal(SIGTERM)
        #expect(await simulator.end().exitCode == 0)
    }

    @Test(
        "What it cannot begin with is told, with a code",
        arguments: [
            (["simulate"], 64, "--make-key"),
            (["simulate", "--trusting", "--listen", "nowhere"], 64, "127.0.0.1:8443"),
            (["simulate", "--trusting", "--latency", "9-1"], 64, "--latency takes milliseconds"),
            (["simulate", "--key-file", "none.p8"], 66, "none.p8: No such file or directory"),
            (["simulate", "--key-file", "garbage"], 66, "garbage: "),
            (["simulate", "--make-key", "garbage"], 66, "garbage: "),
            (["simulate", "--trusting", "--script", "garbage"], 65, "garbage: line 1"),
            (["simulate", "--trusting", "--faults", "garbage"], 65, "garbage: line 1"),
            (["simulate", "--trusting", "--record", "none/pushes"], 73, "none/pushes"),
        ] as [([String], Int32, String)])
    func refusals(arguments: [String], code: Int32, words: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("garbage", "garbage\n")
        let result = try await CommandRunner.apus(arguments, in: folder)
        #expect(result.exitCode == code && result.errors.contains(words), "\(result)")
    }
}
