import Crypto
import Glibc
import HTTPServer
import JSON
import PushTestKit
import Testing

/// A backend with TLS that keeps what is posted to it.
private final class WebhookBackend: HTTPHandler {
    struct State: Sendable {
        var bodies: [[UInt8]] = []
        var signatures: [String] = []
        var status = 204
        var isHolding = false
        var held: [HTTPResponder] = []
    }

    let state = Watched(State())

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let (isHolding, status) = state.update { state in
            state.bodies.append(request.body)
            state.signatures.append(request.field("webhook-signature") ?? "")
            return (state.isHolding, state.status)
        }
        guard isHolding else { return .now(.text(status, "as the test wants it")) }
        return .held { [state] responder in state.update { $0.held.append(responder) } }
    }

    /// The devices that it was told of.
    var devices: Set<String> { Self.devices(state.value) }

    static func devices(_ state: State) -> Set<String> {
        let parser = JSONParser()
        return Set(
            state.bodies.flatMap { body in
                (try? parser.parse(body))?["data"]?["pushes"]?.array?.compactMap { $0["deviceId"]?.string } ?? []
            })
    }

    /// Answers what is held, and holds nothing more.
    func release() {
        let held = state.update { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for responder in held { responder.respond(HTTPResponse(status: 204)) }
    }

    /// Serves it, and writes its certificate into a folder.
    func serve(in folder: TemporaryFolder) throws -> HTTPServer {
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost", "hooks.localhost"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        try folder.write("backend.pem", identity.certificateChainPEM)
        var options = HTTPServerConfiguration(
            name: "the backend", settingName: "test.listen", host: "127.0.0.1", port: 0, identity: identity)
        options.idleSecondsMaximum = 300
        return try HTTPServer(configuration: options, handler: self)
    }
}

@Suite("The command 'apus webhooks'", .timeLimit(.minutes(10)))
struct WebhooksCommandTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The lines of an app's webhook.
    private static func webhook(_ url: String) -> String {
        "[app.webhook]\nurl = \"\(url)\"\nsecret = \"\(secret)\"\nca_file = \"backend.pem\"\ntimeout = \"60s\"\n"
    }

    /// A configuration whose broker and key are not used.
    private static func configuration(_ webhook: String) -> String {
        """
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        outcomes = ["all"]
        [app.apns]
        key_file = "key.p8"
        key_id = "ABC123DEFG"
        team_id = "DEF123GHIJ"
        \(webhook)
        """
    }

    /// The broker's address for a user with the printed permissions of the role, and no others.
    private func limitedURL(_ fixture: WorkerFixture) async throws -> String {
        let printed = try await fixture.apus("topology", "permissions", "--json")
        let roles = try #require(try JSONParser().parse(printed.output).array)
        let role = try #require(roles.first { $0["role"]?.string == "webhooks" })
        let user = "\(fixture.namespace)-webhooks"
        try await fixture.broker.control("add_user", user, "secret")
        let patterns = [role["configure"], role["write"], role["read"]].map { $0?.string ?? "" }
        try await fixture.broker.control(["set_permissions", "-p", "/", user] + patterns)
        return "amqp://\(user):secret@127.0.0.1:\(fixture.broker.port)/"
    }

    @Test("What a worker tells reaches the backend, also if 'apus webhooks' is killed in the middle")
    func killed() async throws {
        let fixture = try await WorkerFixture()
        let backend = WebhookBackend()
        let server = try backend.serve(in: fixture.folder)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            written.replacing("[[app]]", with: "[[app]]\noutcomes = [\"accepted\"]")
                + "\n" + Self.webhook("https://localhost:\(server.port)/hook"))
        let early = try await fixture.apus("webhooks")
        #expect(early.exitCode == 69 && early.errors.contains("run `apus topology apply` first"), "\(early)")
        try #require(try await fixture.apus("topology", "apply").exitCode == 0)
        let arguments = [
            "webhooks", "--listen", "127.0.0.1:0", "--set", "rabbitmq.url=\(try await limitedURL(fixture))",
        ]
        try fixture.register(20)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        backend.state.update { $0.isHolding = true }
        let first = try RunningCommand(arguments, in: fixture.folder)
        try await fixture.publish(
            (0..<20).map { WorkerFixture.datasetChanged("\($0)", identity: $0, syncCount: 1) })
        try #require(await backend.state.wait { $0.held.count >= 8 }, "\(first.errors)")
        first.signal(SIGKILL)
        _ = await first.end()
        backend.state.update { $0.bodies = [] }
        backend.release()
        let second = try RunningCommand(arguments, in: fixture.folder)
        try #require(await backend.state.wait { WebhookBackend.devices($0).count == 20 }, "\(second.errors)")
        try await second.wait(for: "admin.listening")
        let port = try Self.adminPort(second)
        let ready = await PlainHTTP.requestInBackground("GET", "/readyz", port: port)
        #expect(ready.status == 200, "\(ready)")
        let metrics = await PlainHTTP.requestInBackground("GET", "/metrics", port: port).body
        #expect(metrics.contains(#"apus_webhook_deliveries_total{app="chat",result="delivered"}"#), "\(metrics)")
        let end = await second.stop(seconds: 60)
        #expect(end.exitCode == 0, "\(end)")
        for text in [end.errors, first.errors, early.errors] {
            #expect(!text.contains("MfKQ") && !text.contains("/hook"))
        }
        #expect(try await fixture.broker.messageCount(queue: "\(fixture.namespace).outcomes.webhook.chat") == 0)
        await worker.drainCleanly()
        server.stop()
        try await fixture.stop()
    }

    @Test("SIGHUP posts to another backend from then on, also after a 410, and a wrong configuration changes nothing")
    func reload() async throws {
        let fixture = try await WorkerFixture()
        let (old, new) = (WebhookBackend(), WebhookBackend())
        let oldServer = try old.serve(in: fixture.folder)
        old.state.update { $0.status = 410 }
        let written = try fixture.folder.read("apus.toml").replacing("[[app]]", with: "[[app]]\noutcomes = [\"all\"]")
        func configure(_ url: String) throws {
            try fixture.folder.write("apus.toml", written + "\n" + Self.webhook(url))
        }
        try configure("https://localhost:\(oldServer.port)/")
        try #require(try await fixture.apus("topology", "apply").exitCode == 0)
        try fixture.register(2)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let webhooks = try RunningCommand(["webhooks"], in: fixture.folder)
        try await fixture.publish([WorkerFixture.datasetChanged("0", identity: 0, syncCount: 1)])
        try await webhooks.wait(for: "webhook.gone")
        try configure("https://localhost:0/")
        webhooks.signal(SIGHUP)
        try await webhooks.wait(for: "config.reload.failed")
        let newServer = try new.serve(in: fixture.folder)
        try configure("https://localhost:\(newServer.port)/")
        webhooks.signal(SIGHUP)
        try await webhooks.wait(for: "config.reloaded")
        try await fixture.publish([WorkerFixture.datasetChanged("1", identity: 1, syncCount: 1)])
        try #require(await new.state.wait { WebhookBackend.devices($0).count == 2 }, "\(webhooks.errors)")
        #expect(old.state.value.bodies.count == 1)
        let end = await webhooks.stop(seconds: 60)
        #expect(end.exitCode == 0, "\(end)")
        await worker.drainCleanly()
        oldServer.stop()
        newServer.stop()
        try await fixture.stop()
    }

    @Test("'apus webhooks test' posts one sample, and tells what the endpoint answers, or why it does not")
    func trial() async throws {
        let folder = try TemporaryFolder()
        let backend = WebhookBackend()
        let server = try backend.serve(in: folder)
        try folder.write("apus.toml", Self.configuration(Self.webhook("https://localhost:\(server.port)/hook")))
        func run(_ more: String...) async throws -> CommandResult {
            try await CommandRunner.apus(["webhooks", "test", "--app", "chat"] + more, in: folder)
        }
        let taken = try await run()
        #expect(taken.exitCode == 0 && taken.output.hasPrefix("204 of https://localhost:\(server.port) "), "\(taken)")
        #expect(backend.devices == ["sample-device"])
        backend.state.update { $0.status = 401 }
        let refused = try await run("--json")
        let json = try JSONParser().parse(refused.output)
        #expect(refused.exitCode == 77 && json["status"]?.int64 == 401, "\(refused)")
        #expect(json["body"]?.string?.contains("as the test wants it") == true)
        let shown = try await run()
        #expect(
            shown.output.contains("compare the secret, and the clocks\n  ")
                && shown.output.contains("as the test wants it"), "\(shown)")
        backend.state.update { $0.status = 302 }
        let moved = try await run()
        #expect(moved.exitCode == 69 && moved.output.contains("not followed"), "\(moved)")
        // A name that leads to this machine, which the url does not name itself.
        let count = backend.state.value.bodies.count
        let hidden = try await run("--set", "app.0.webhook.url=https://hooks.localhost:\(server.port)/hook")
        #expect(
            hidden.exitCode == 69 && hidden.output.contains("no address of the name may be connected to"), "\(hidden)")
        #expect(backend.state.value.bodies.count == count)
        server.stop()
        let dead = try await run()
        #expect(dead.exitCode == 69 && dead.output.contains("no answer of"), "\(dead)")
        for result in [taken, refused, moved, hidden, dead] {
            #expect(!(result.output + result.errors).contains("MfKQ"), "\(result)")
        }
    }

    @Test("Without a broker it waits, says so in /readyz, and ends at once when it is asked to")
    func noBroker() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePorts.find(1)[0]
        try folder.write("apus.toml", Self.configuration("[app.webhook]\nurl = \"https://backend.example.com/\""))
        let webhooks = try RunningCommand(
            [
                "webhooks", "--listen", "127.0.0.1:0", "--set", "rabbitmq.url=amqp://guest:guest@127.0.0.1:\(port)/",
                "--set", "log.format=json",
            ], environment: ["APUS_APP_0_WEBHOOK_SECRET": Self.secret], in: folder)
        try await webhooks.wait(for: "webhook.started")
        let ready = await PlainHTTP.requestInBackground("GET", "/readyz", port: try Self.adminPort(webhooks))
        #expect(ready.status == 503 && ready.body.contains("webhook chat"), "\(ready)")
        let end = await webhooks.stop(seconds: 60)
        #expect(end.exitCode == 0 && end.errors.contains("outcomes.broker.away"), "\(end)")
        #expect(!end.errors.contains("MfKQ"))
    }

    /// The port of its admin server, which the log says.
    private static func adminPort(_ command: RunningCommand) throws -> UInt16 {
        let line = command.errors.split(separator: "\n").first { $0.contains("admin.listening") } ?? ""
        return try #require(UInt16(line.firstMatch(of: /"port":(\d+)/)?.output.1 ?? ""))
    }

    @Test("Without a webhook the commands say what to set, and 'apus check' says what is wrong with one")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        try folder.write("apus.toml", Self.configuration(""))
        let none = try await CommandRunner.apus(["webhooks"], in: folder)
        #expect(none.exitCode == 78 && none.errors.contains("no app has a webhook: set url and secret"), "\(none)")
        let other = try await CommandRunner.apus(["webhooks", "test", "--app", "mail"], in: folder)
        #expect(other.exitCode == 64 && other.errors.contains("no such app"), "\(other)")
        let unset = try await CommandRunner.apus(["webhooks", "test", "--app", "chat"], in: folder)
        #expect(unset.exitCode == 78 && unset.errors.contains("has no [app.webhook]"), "\(unset)")
        let address = try await CommandRunner.apus(["webhooks", "--listen", "nowhere"], in: folder)
        #expect(address.exitCode == 64, "\(address)")
        let taken = try await CommandRunner.apus(
            ["webhooks", "--listen", "192.0.2.1:0", "--set", "app.0.webhook.url=https://localhost/"]
                + ["--set", "app.0.webhook.secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], in: folder)
        #expect(taken.exitCode == 69 && taken.errors.contains("of this machine as --listen"), "\(taken)")
        let checked = try await CommandRunner.apus(
            ["check", "--set", "app.0.webhook.url=http://10.0.0.5/", "--set", "app.0.webhook.secret=whsec_word"],
            in: folder)
        #expect(checked.exitCode == 78 && checked.output.contains("app.0.webhook.url"), "\(checked)")
        #expect(checked.output.contains("app.0.webhook.secret") && !checked.output.contains("whsec_word"), "\(checked)")
    }
}
