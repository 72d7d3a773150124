import APNsSimulator
import Glibc
import PushTestKit
import Testing

@Suite("The relay as a process", .timeLimit(.minutes(10)))
struct RelayCommandTests {
    @Test("Every commit is one push, though relays are killed while they publish")
    func commitsArePushes() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let fixture = try await WorkerFixture(
            configuration: "[relay]\nurl = \"\(server.url(database: database))\"\nbatch = 7")
        #expect(try await fixture.apus("topology", "apply").exitCode == 0)
        try await server.run(try await fixture.apus("relay", "sql").output, database: database)
        try fixture.registerReaders(1)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        func publish(_ first: Int) async throws {
            try await server.run(
                """
                SELECT count(apus_outbox.publish('push.requested', jsonb_build_object('app', 'chat', 'topic', 'news',
                    'notification', jsonb_build_object('body', 'Order ' || n)), id => n::text))
                FROM generate_series(\(first), \(first + 49)) n
                """, database: database)
        }
        for first in stride(from: 1, through: 201, by: 50) {
            let relay = try RunningCommand(["relay"], in: fixture.folder)
            try await publish(first)
            // Some of the rows are under way.
            try await eventually("the relay to begin") {
                try await server.run("SELECT count(*) < 50 FROM apus_outbox.event", database: database) == "t"
            }
            relay.signal(SIGKILL)
            _ = await relay.end()
        }
        let last = try RunningCommand(["relay"], in: fixture.folder)
        // Rows for it alone: it has begun when they are moved.
        try await publish(251)
        try await eventually("all rows to be moved") {
            try await server.run("SELECT count(*) FROM apus_outbox.event", database: database) == "0"
        }
        try await eventually("all pushes") {
            Set(try await fixture.simulator.recorded().filter { $0.status == 200 }.map(\.apnsID)).count == 300
        }
        // The one before may have moved all rows before it was killed, and this one may only just begin.
        try await last.wait(for: "relay.started")
        last.signal(SIGTERM)
        let end = await last.end()
        #expect(end.exitCode == 0, "\(end)")
        try await fixture.waitForMessages(0)
        await worker.drainCleanly()
        // A relay that was killed has published some rows twice; the worker remembers them.
        #expect(try await fixture.simulator.recorded().filter { $0.status == 200 }.count == 300)
    }

    @Test("A worker is a relay, too, until a reload ends that; an outbox in trouble only degrades it")
    func inWorker() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let fixture = try await WorkerFixture(
            configuration: "[relay]\nurl = \"\(server.url(database: database))\"\nin_worker = true")
        try fixture.registerReaders(1)
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: "apus relay sql")
        try await server.run(try await fixture.apus("relay", "sql").output, database: database)
        func publish() async throws {
            try await server.run(
                """
                SELECT apus_outbox.publish('push.requested',
                    '{"app": "chat", "topic": "news", "notification": {"body": "Hi"}}')
                """, database: database)
        }
        try await publish()
        _ = try await fixture.accepted(reachingDevices: 1)
        try await worker.wait(for: "apus_relay_rows_total", toReach: 1)
        #expect(try await worker.metric("apus_amqp_connected", "publish") == 1)
        #expect(try await worker.metric("apus_amqp_connected", "relay") == 1)

        let configured = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", configured.replacing("in_worker = true", with: "in_worker = false"))
        worker.command.signal(SIGHUP)
        try await eventually("the reload") { worker.command.errors.contains("config.reloaded") }
        try await publish()
        let left = try await server.run("SELECT count(*) FROM apus_outbox.event", database: database)
        #expect(left == "1")
        #expect(try await !worker.get("/metrics").body.contains("apus_relay_lag_seconds"))
        await worker.drainCleanly()
    }

    @Test("A plain UPDATE of a watched table is a push to those whose predicate the row now meets")
    func watchedTable() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let fixture = try await WorkerFixture(configuration: "[relay]\nurl = \"\(server.url(database: database))\"")
        #expect(try await fixture.apus("topology", "apply").exitCode == 0)
        try await server.run(try await fixture.apus("relay", "sql").output, database: database)
        try await server.run(
            """
            CREATE TABLE songs (id bigint PRIMARY KEY, title text, price numeric(10,2));
            INSERT INTO songs VALUES (1, 'Rain', 25), (2, 'Sun', 30);
            """, database: database)
        let trigger = try await fixture.apus("relay", "trigger", "--table", "songs", "--record-type", "Song")
        try await server.run(trigger.output, database: database)
        let token = TestDevices.token(1)
        _ = try await fixture.apus("device", "add", "--app", "chat", "--token", token, "--id", "d1", "--user", "anna")
        let saved = try await fixture.apus(
            "subscription", "save", "cheap", "--app", "chat", "--user", "anna", "--type", "Song", "--predicate",
            "price <= 20", "--alert", "{title}")
        try #require(saved.exitCode == 0, "\(saved)")
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let relay = try RunningCommand(["relay"], in: fixture.folder)
        try await server.run(
            "UPDATE songs SET price = price - 5.01; UPDATE songs SET price = price", database: database)
        try await fixture.simulator.waitForAnswers(1)
        let removal = try await fixture.apus("relay", "trigger", "--table", "songs", "--remove")
        try await server.run(removal.output, database: database)
        try await server.run("UPDATE songs SET price = 1", database: database)
        try await eventually("all rows to be moved") {
            try await server.run("SELECT count(*) FROM apus_outbox.event", database: database) == "0"
        }
        relay.signal(SIGTERM)
        #expect(await relay.end().exitCode == 0)
        await worker.drainCleanly()
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.map(\.deviceToken) == [token])
        #expect(String(decoding: try #require(pushes.first).payload, as: UTF8.self).contains(#""alert":"Rain""#))
        try await fixture.stop()
    }

    @Test("A trigger needs a table and a record type, its removal nothing more")
    func triggerUsage() async throws {
        let fixture = try await WorkerFixture()
        for (arguments, part) in [
            ([], "--table"), (["--table", "songs"], "--record-type"),
            (["--table", "songs", "--remove", "--zone", "eu"], "--remove needs no --zone"),
        ] {
            let result = try await CommandRunner.apus(["relay", "trigger"] + arguments, in: fixture.folder)
            #expect(result.exitCode == 64 && result.errors.contains(part), "\(result)")
        }
    }

    @Test("Without an outbox it says which key to set, and what a database lacks")
    func unusable() async throws {
        let fixture = try await WorkerFixture()
        let without = try await fixture.apus("relay")
        #expect(without.exitCode == 78 && without.errors.contains("relay.url"), "\(without)")
        let wrong = try await fixture.apus("relay", "--set", "relay.url=mysql://db/shop")
        let nowhere = try await fixture.apus("check", "--set", "relay.in_worker=true")
        #expect(nowhere.exitCode == 78 && nowhere.output.contains("set relay.url"), "\(nowhere)")
        #expect(wrong.exitCode == 78 && wrong.errors.contains("postgresql://"), "\(wrong)")
    }
}
