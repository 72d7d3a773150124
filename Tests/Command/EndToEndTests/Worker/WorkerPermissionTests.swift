import AMQP
import EventLoop
import Foundation
import Glibc
import JSON
import PushTestKit
import Testing

@Suite("The least permissions of RabbitMQ's users")
struct WorkerPermissionTests {
    /// Makes a user for each role of the namespace, with exactly what `apus topology permissions` prints.
    private func makeUsers(_ fixture: WorkerFixture) async throws {
        let printed = try await fixture.apus("topology", "permissions", "--json")
        try #require(printed.exitCode == 0, "\(printed)")
        let roles = try #require(try JSONParser().parse(printed.output).array)
        let calls = roles.map { role in
            func text(_ key: StaticString) -> String {
                // An Erlang string takes the backslash for itself.
                (role[key]?.string ?? "").replacing("\\", with: "\\\\")
            }
            let user = "\(fixture.namespace)-\(text("role"))"
            return """
                ok = rabbit_auth_backend_internal:add_user(<<"\(user)">>, <<"secret">>, <<"tests">>),
                ok = rabbit_auth_backend_internal:set_permissions(<<"\(user)">>, <<"/">>, <<"\(text("configure"))">>,
                    <<"\(text("write"))">>, <<"\(text("read"))">>, <<"tests">>)
                """
        }
        try #require(calls.count == 7)
        try await fixture.broker.evaluate(calls.joined(separator: ", ") + ".")
    }

    private func url(_ role: String, _ fixture: WorkerFixture) -> String {
        "amqp://\(fixture.namespace)-\(role):secret@127.0.0.1:\(fixture.broker.port)/"
    }

    private func apus(_ role: String, _ fixture: WorkerFixture, _ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(
            arguments + ["--set", "rabbitmq.url=\(url(role, fixture))"], in: fixture.folder)
    }

    @Test(
        "Each role does its job with the printed permissions: events, retries, fan-outs, outcomes, dead letters"
    )
    func rolesSuffice() async throws {
        let fixture = try await WorkerFixture(
            script: #"{"token":"","answer":"status","status":503,"reason":"ServiceUnavailable","times":1}"# + "\n"
                + #"{"token":"\#(TestDevices.token(0))","answer":"status","status":413,"reason":"PayloadTooLarge"}"#,
            configuration: "[fanout]\nthreshold_devices = 500\nchunk_devices = 250")
        try fixture.registerReaders(1_000)
        try await makeUsers(fixture)
        for queue in ["work", "fanout", "retry.1s"] {
            try await fixture.broker.control("delete_queue", "\(fixture.namespace).\(queue)")
        }
        let applied = try await apus("topology", fixture, "topology", "apply")
        #expect(applied.exitCode == 0 && applied.output.contains("\(fixture.namespace).work: created"), "\(applied)")

        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            configuration.replacing(fixture.broker.url, with: url("worker", fixture))
                .replacing("[[app]]", with: "[[app]]\noutcomes = [\"accepted\"]"))
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let event = TestEvents.pushRequested("1", to: .topic("news"))
        let file = try fixture.folder.write("events", event + "\n")
        let published = try await apus("publisher", fixture, "publish", "--file", file)
        #expect(published.exitCode == 0, "\(published)")
        _ = try await fixture.accepted(reachingDevices: 999)
        #expect(try await worker.metric("apus_pushes_total", #"outcome="requeued_retry""#) > 0)
        #expect(try await worker.metric("apus_fanout_chunks_total", "served") == 4)
        try await worker.wait(for: "apus_dead_letters_total", toReach: 1)
        #expect(try await worker.metric("apus_outcomes_published_total") > 0)
        #expect(try await worker.metric("apus_outcomes_dropped_total") == 0)
        let listed = try await apus("dead-letters", fixture, "dead-letters", "list")
        #expect(listed.exitCode == 0 && listed.output.contains("PayloadTooLarge"), "\(listed)")
        let replayed = try await apus("dead-letters", fixture, "dead-letters", "replay", "--all")
        #expect(replayed.exitCode == 0, "\(replayed)")
        try await worker.wait(for: "apus_dead_letters_total", toReach: 2)
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Who checks may look at every queue, and neither consumes nor publishes; who lacks a right is told which")
    func looking() async throws {
        let fixture = try await WorkerFixture()
        try await makeUsers(fixture)
        let namespace = fixture.namespace
        let loop = try EventLoop(name: "test")
        let outcomes = ["outcomes.chat", "outcomes.webhook.chat"]
        let broker = fixture.broker.url
        try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(broker), options: AMQPOptions())
            defer { session.close() }
            for name in ["work.2"] + outcomes { try session.declareQueue("\(namespace).\(name)") }
        }
        for role in ["check", "worker"] {
            let url = url(role, fixture)
            try await loop.run {
                let session = try AMQPSession(AMQPEndpoint(url), options: AMQPOptions())
                defer { session.close() }
                for name in ["work", "work.2", "fanout", "retry.1s", "dead-letter"] + (role == "check" ? outcomes : [])
                {
                    let queue = "\(namespace).\(name)"
                    #expect(try session.declareQueue(queue, isPassive: true).messageCount == 0)
                    let mayRead = role == "worker" && ["work", "work.2", "fanout"].contains(name)
                    #expect(try session.mayRead(queue: queue) == mayRead, "\(role), \(queue)")
                    #expect(try !session.mayBind(queue: queue, to: "\(namespace).changes"))
                }
                #expect(try session.mayWrite(exchange: "") == (role == "worker"))
                #expect(try !session.mayWrite(exchange: "\(namespace).changes"))
            }
        }
        loop.stopAndJoin()
        let file = try fixture.folder.write("events", TestEvents.pushRequested("1", to: .topic("news")) + "\n")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        // The load has a simulator of its own.
        let endpoint = "127.0.0.1:\(try FreePorts.find(1)[0])"
        let load = [
            "load", "--devices", "1", "--time", "1", "--set", "app.0.apns.ca_file=load.pem", "--set",
            "app.0.apns.endpoint=\(endpoint)",
        ]
        for arguments in [["publish", "--file", file], load] {
            let end = try await CommandRunner.apus(
                arguments + ["--set", "rabbitmq.url=\(url("check", fixture))"], in: fixture.folder)
            #expect(end.exitCode == 77, "\(end)")
            #expect(end.errors.contains("the user \(namespace)-check may not write \(namespace).changes"), "\(end)")
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test(
        "A queue that a user may not look at hides no other: page, top and doctor say which it is and what permits it")
    func refusedQueues() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        try await makeUsers(fixture)
        let namespace = fixture.namespace
        // The rights that sufficed a worker before 4.2.7 and 4.3.1.
        let rights = ["^$", "^amq\\.default$", "^\(namespace)\\.(work|fanout)$"]
        try await fixture.broker.control(["set_permissions", "\(namespace)-worker"] + rights)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", written.replacing(fixture.broker.url, with: url("worker", fixture)))
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        // From 4.2.7 and 4.3.1 on a passive declare needs some right on that very queue.
        let asks = try await fixture.broker.version() >= AMQPServer.Version(4, 3, 1)
        let refused = ["retry.200ms", "retry.500ms", "retry.1s", "dead-letter"].map { "\(namespace).\($0)" }
        let refusal =
            "the user \(namespace)-worker may not look at \(refused.joined(separator: ", ")); "
            + "`apus topology permissions` prints what permits it"

        let now = try JSONParser().parse(try await worker.get("/ui/api/now").body)
        let kinds = now["queues"]?["list"]?.array?.map { $0["kind"]?.string ?? "" } ?? []
        #expect(kinds == (asks ? ["work", "fan-out"] : ["work", "retry", "retry", "retry", "fan-out", "dead-letter"]))
        #expect(now["queues"]?["reason"]?.string == (asks ? refusal : nil))
        let top = try await fixture.apus("top", "--once")
        #expect(top.exitCode == 0 && top.output.contains(".work 0 (1 consumer)"), "\(top)")
        #expect(top.output.contains(refusal) == asks, "\(top)")
        #expect(try await fixture.apus("doctor", "--output", "bundle").exitCode == 0)
        let queues = try fixture.folder.read("bundle/queues.txt")
        #expect(queues.contains("consumers of the first work queue: 1"), "\(queues)")
        #expect(queues.contains("not counted above: \(refusal)") == asks, "\(queues)")
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("deploy/rabbitmq-permissions.md has the patterns that the program prints")
    func document() async throws {
        let folder = try TemporaryFolder()
        let printed = try await CommandRunner.apus(["topology", "permissions", "--json"], in: folder)
        let roles = try #require(try JSONParser().parse(printed.output).array)
        let root = #filePath.components(separatedBy: "/Tests/").dropLast().joined(separator: "/Tests/")
        let document = try String(contentsOfFile: root + "/deploy/rabbitmq-permissions.md", encoding: .utf8)
        for role in roles {
            func text(_ key: StaticString) -> String { role[key]?.string ?? "" }
            let patterns = [text("configure"), text("write"), text("read")].map {
                "`\($0.replacing("|", with: "\\|"))`"
            }
            let end = "| " + patterns.joined(separator: " | ") + " |\n"
            #expect(document.contains(try Regex("(?m)^\\| \(text("role")): ")) && document.contains(end), "\(end)")
        }
        let commands = try await CommandRunner.apus(["topology", "permissions"], in: folder)
        let example = try #require(
            document.split(separator: "\n").first { $0.hasPrefix("rabbitmqctl set_permissions") })
        #expect(commands.output.contains("rabbitmqctl set_permissions -p '/' 'apus-worker'"))
        #expect(commands.output.contains(example.split(separator: "apus-worker ").last ?? "-"), "\(commands)")
    }

    @Test("A relay needs no more of RabbitMQ than a publisher, and of PostgreSQL what 'apus relay sql' grants")
    func relay() async throws {
        let fixture = try await WorkerFixture()
        try await makeUsers(fixture)
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let role = "relays_\(database)"
        let sql = try await fixture.apus("relay", "sql", "--relay-role", role)
        try await server.run("CREATE ROLE \(role) LOGIN PASSWORD 'word'", database: database)
        let configured = try fixture.folder.read("apus.toml").replacing(
            fixture.broker.url, with: url("publisher", fixture))
        try fixture.folder.write(
            "apus.toml",
            "[relay]\nurl = \"postgresql://\(role):word@127.0.0.1:\(server.port)/\(database)\"\n" + configured)
        let before = try await fixture.apus("check", "--connect")
        #expect(before.output.contains("FAILED  outbox: ") && before.output.contains("apus relay sql"), "\(before)")
        try await server.run(sql.output, database: database)
        let after = try await fixture.apus("check", "--connect")
        #expect(after.output.contains("OK      outbox: ") && !after.output.contains("word"), "\(after)")
        try await server.run(
            "SELECT apus_outbox.push('chat', ARRAY['mei'], '{\"title\": \"Hi\"}')", database: database)
        let relay = try RunningCommand(["relay"], in: fixture.folder)
        try await fixture.waitForMessages(1)
        relay.signal(SIGTERM)
        let end = await relay.end()
        #expect(end.exitCode == 0, "\(end)")
        let inWorker = try await fixture.apus("check", "--connect", "--set", "relay.in_worker=true")
        #expect(inWorker.output.contains("which `apus run` needs"), "\(inWorker)")
        let worker = try await apus("worker", fixture, "check", "--connect", "--set", "relay.in_worker=true")
        #expect(worker.exitCode == 77, "\(worker)")
        #expect(worker.output.contains("may not write \(fixture.namespace).changes"), "\(worker)")
        try await fixture.stop()
    }

    @Test("apus check --connect passes with a worker's rights, says for whom they do not suffice, and changes nothing")
    func checkTellsRoles() async throws {
        let fixture = try await WorkerFixture()
        try fixture.registerReaders(1)
        try await makeUsers(fixture)
        let namespace = fixture.namespace
        let before = try await fixture.broker.messageCounts(namespace: namespace)
        let worker = try await apus("worker", fixture, "check", "--connect")
        #expect(worker.exitCode == 0, "\(worker)")
        #expect(worker.output.contains("OK      permissions: \(namespace)-worker may do what a worker needs"))
        for line in [
            "for apus relay, or a backend that publishes events it lacks: write \(namespace).changes",
            "for apus topology apply it lacks: configure \(namespace).changes, configure",
            "for apus dead-letters it lacks: read \(namespace).dead-letter, "
                + "configure \(namespace).dead-letter.lock",
            "were not compared, because this user may not configure them, and a worker need not",
        ] { #expect(worker.output.contains(line), "\(worker.output)") }
        let publisher = try await apus("publisher", fixture, "check", "--connect")
        #expect(publisher.exitCode == 77, "\(publisher)")
        #expect(
            publisher.output.contains(
                "FAILED  permissions: \(namespace)-publisher may not read \(namespace).work, read \(namespace).fanout, "
                    + "write amq.default, which `apus run` needs"), "\(publisher.output)")
        let declaring = try await apus("worker", fixture, "check", "--connect", "--set", "worker.declare_topology=true")
        #expect(declaring.exitCode == 77 && declaring.output.contains("`apus topology apply` needs"), "\(declaring)")
        let topology = try await apus("topology", fixture, "check", "--connect")
        #expect(topology.output.contains("exchanges and queues are as configured"), "\(topology)")
        let everything = try await fixture.apus("check", "--connect")
        #expect(everything.exitCode == 0 && !everything.output.contains("it lacks"), "\(everything)")
        let compared = try await apus("worker", fixture, "topology", "check")
        #expect(compared.exitCode == 77 && compared.output.contains("\(namespace).work: not compared"), "\(compared)")
        #expect(try await apus("worker", fixture, "topology", "apply").exitCode == 77)
        #expect(try await fixture.broker.messageCounts(namespace: namespace) == before)
        try await fixture.stop()
    }
}
