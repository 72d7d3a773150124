import APNsSimulator
import Glibc
import PushTestKit
import Testing

@Suite("The relay as a process", .timeLimit(.minutes(10)))
struct RelayCommandTests {
    @Test("Every commit is a push, though relays are killed while they publish")
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
        for first in stride(from: 1, through: 251, by: 50) {
            let relay = try RunningCommand(["relay"], in: fixture.folder)
            try await server.run(
                """
                SELECT count(apus_outbox.publish('push.requested', jsonb_build_object('app', 'chat', 'topic', 'news',
                    'notification', jsonb_build_object('body', 'Order ' || n)), id => n::text))
                FROM generate_series(\(first), \(first + 49)) n
                """, database: database)
            // Some of the rows are under way.
            try await eventually("the relay to begin") {
                try await server.run("SELECT count(*) < 50 FROM apus_outbox.event", database: database) == "t"
            }
            relay.signal(SIGKILL)
            _ = await relay.end()
        }
        let last = try RunningCommand(["relay"], in: fixture.folder)
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
        await worker.drainCleanly()
    }

    @Test("Without an outbox it says which key to set, and what a database lacks")
    func unusable() async throws {
        let fixture = try await WorkerFixture()
        let without = try await fixture.apus("relay")
        #expect(without.exitCode == 78 && without.errors.contains("relay.url"), "\(without)")
        let wrong = try await fixture.apus("relay", "--set", "relay.url=mysql://db/shop")
        #expect(wrong.exitCode == 78 && wrong.errors.contains("postgresql://"), "\(wrong)")
    }
}
