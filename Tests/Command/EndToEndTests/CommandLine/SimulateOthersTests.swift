import Crypto
import Glibc
import JSON
import PushTestKit
import Testing

@Suite("apus simulate-fcm, apus simulate-adm and apus simulate-webpush")
struct SimulateOthersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func start(_ arguments: [String]) async throws -> RunningCommand {
        let simulator = try RunningCommand(arguments, in: folder)
        try await simulator.wait(for: "\n", in: \.output)
        return simulator
    }

    private func end(_ simulator: RunningCommand) async -> CommandResult {
        simulator.signal(SIGTERM)
        return await simulator.end()
    }

    /// The end of a configuration whose app uses both services.
    private func configuration(fcmPort: String) -> String {
        """
        [registry]
        url = "sqlite:registry.db"
        [webpush]
        trusted_hosts = ["localhost:\(fcmPort)"]
        ca_file = "fcm.pem"
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.fcm]
        service_account_file = "account.json"
        endpoint = "127.0.0.1:\(fcmPort)"
        ca_file = "fcm.pem"
        [app.webpush]
        key_file = "vapid.pem"
        subject = "mailto:push@example.com"
        """
    }

    @Test("The account that simulate-fcm makes gets access tokens from it, also at its next start")
    func account() async throws {
        let arguments = ["simulate-fcm", "--make-account", "account.json", "--ca-out", "fcm.pem"]
        let first = try await start(arguments)
        let port = try #require(first.output.split(separator: ":").last?.prefix { $0.isNumber })
        let key = try ES256PrivateKey.generate().pem
        try folder.write("vapid.pem", key)
        try folder.write("apus.toml", configuration(fcmPort: String(port)))
        let check = try await CommandRunner.apus(["check", "--connect"], in: folder)
        #expect(check.output.contains("account chat: push@apus-simulator.iam.gserviceaccount.com got"), "\(check)")
        #expect(check.output.contains("fcm chat: certificate verified, HTTP/2 negotiated"), "\(check)")
        let result = await end(first)
        #expect(result.exitCode == 0 && result.output.contains("1 access tokens issued, 0 refused"), "\(result)")
        let account = try folder.read("account.json")
        let second = try await start(arguments + ["--listen", "127.0.0.1:\(port)"])
        let again = try await CommandRunner.apus(["check", "--connect"], in: folder)
        #expect(again.output.contains("OK      account chat"), "\(again)")
        #expect(await end(second).exitCode == 0)
        #expect(try folder.read("account.json") == account)
    }

    @Test("simulate-fcm wants an account, and says what is wrong with a file")
    func problems() async throws {
        let none = try await CommandRunner.apus(["simulate-fcm"], in: folder)
        #expect(none.exitCode == 64 && none.errors.contains("--make-account"), "\(none)")
        try folder.write("bad.json", "{}")
        let bad = try await CommandRunner.apus(["simulate-fcm", "--make-account", "bad.json"], in: folder)
        #expect(bad.exitCode == 66 && bad.errors.contains("client_email"), "\(bad)")
        try folder.write("script", "{}")
        let script = try await CommandRunner.apus(
            ["simulate-fcm", "--trusting", "--script", "script"], in: folder)
        #expect(script.exitCode == 65 && script.errors.contains("script: "), "\(script)")
        try folder.write("vapid.pem", "not a key")
        let key = try await CommandRunner.apus(["simulate-webpush", "--key-file", "vapid.pem"], in: folder)
        #expect(key.exitCode == 66 && key.errors.contains("vapid.pem: "), "\(key)")
    }

    @Test("simulate-adm makes a client, keeps it at its next start, and prints totals")
    func client() async throws {
        let arguments = ["simulate-adm", "--make-client", "client.toml", "--ca-out", "adm.pem"]
        let first = try await start(arguments + ["--control", "0", "--record", "messages.ndjson"])
        #expect(first.output.contains("ready at https://127.0.0.1:"), "\(first.output)")
        try await first.wait(for: "controlled at 127.0.0.1:", in: \.output)
        let client = try folder.read("client.toml")
        #expect(client.contains("client_id = \"amzn1.") && client.contains("client_secret = \"amzn1."))
        #expect(try folder.read("adm.pem").contains("BEGIN CERTIFICATE"))
        let result = await end(first)
        #expect(result.exitCode == 0 && result.output.contains("0 access tokens issued, 0 refused"), "\(result)")
        #expect(try folder.read("messages.ndjson").isEmpty)
        let second = try await start(arguments + ["--json", "--summary", "totals.json"])
        let again = await end(second)
        #expect(again.exitCode == 0 && again.output.contains(#""answered":0"#), "\(again)")
        #expect(try folder.read("totals.json").contains(#""tokens_issued":0"#))
        #expect(try folder.read("client.toml") == client)
    }

    @Test("simulate-adm says what is wrong with a file, and shows nothing of the client's secret")
    func clientProblems() async throws {
        let none = try await CommandRunner.apus(["simulate-adm"], in: folder)
        #expect(none.exitCode == 64 && none.errors.contains("--make-client"), "\(none)")
        try folder.write("bad.toml", "client_secret = \"hidden\"\n")
        let bad = try await CommandRunner.apus(["simulate-adm", "--make-client", "bad.toml"], in: folder)
        #expect(bad.exitCode == 66 && bad.errors.contains("client_id") && !bad.errors.contains("hidden"), "\(bad)")
        for (option, line) in [("--script", #"{"registration":"a","answer":"gone"}"#), ("--faults", "{}")] {
            try folder.write("lines", line)
            let lines = try await CommandRunner.apus(
                ["simulate-adm", "--make-client", "client.toml", option, "lines"], in: folder)
            #expect(lines.exitCode == 65 && lines.errors.contains("lines: line 1"), "\(lines)")
        }
    }

    @Test("simulate-webpush speaks HTTP/1.1 if it is told so")
    func http1() async throws {
        let simulator = try await start([
            "simulate-webpush", "--json", "--http1", "--trusting", "--ca-out", "webpush.pem", "--devices", "1",
            "--devices-out", "browsers.ndjson",
        ])
        let device = try JSONParser().parse(try folder.read("browsers.ndjson"))
        let endpoint = try #require(device["subscription"]?["endpoint"]?.string)
        let answer = try await CommandRunner.run(
            "/usr/bin/curl",
            [
                "--silent", "--noproxy", "*", "--cacert", "webpush.pem", "--data", "x", "--output", "/dev/null",
                "--write-out", "%{http_version} %{response_code}", endpoint,
            ], in: folder)
        #expect(answer.output == "1.1 201", "\(answer)")
        let result = await end(simulator)
        #expect(result.exitCode == 0 && result.output.contains(#""accepted":1,"#), "\(result)")
    }

    @Test("The devices that simulate-webpush writes can be imported, and it says where each service is")
    func devices() async throws {
        let simulator = try await start([
            "simulate-webpush", "--devices", "7", "--devices-out", "browsers.ndjson", "--ca-out", "webpush.pem",
        ])
        try await simulator.wait(for: "(wns)", in: \.output)
        for service in ["plain", "fcm", "mozilla", "apple", "wns"] {
            #expect(simulator.output.contains(" (\(service))\n"), "\(simulator.output)")
        }
        var environment = ["APUS_REGISTRY_URL": "sqlite:registry.db"]
        let refused = try await CommandRunner.apus(
            ["device", "import", "browsers.ndjson"], environment: environment, in: folder)
        #expect(refused.exitCode == 65 && refused.errors.contains("trusted_hosts names exceptions"), "\(refused)")
        environment["APUS_WEBPUSH_TRUSTED_HOSTS"] = "localhost"
        let result = try await CommandRunner.apus(
            ["device", "import", "browsers.ndjson"], environment: environment, in: folder)
        #expect(result.exitCode == 0, "\(result)")
        let list = try await CommandRunner.apus(["device", "list"], environment: environment, in: folder)
        #expect(list.output.split(separator: "\n").count { $0.contains("WEB_PUSH") } == 7, "\(list)")
        #expect(await end(simulator).exitCode == 0)
    }
}
