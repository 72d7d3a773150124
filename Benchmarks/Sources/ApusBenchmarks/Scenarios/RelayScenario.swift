import Foundation
import PushTestKit

/// `apus relay`: how fast it empties a full outbox, beside a publisher in C that has nothing to read and to delete; and
/// how long an event takes from its commit to the push.
struct RelayScenario {
    private static let rows = Scale.of(60_000, small: 600)
    private static let rounds = Scale.of(3, small: 1)
    private static let clients = 4
    /// The commits a second while an outbox is emptied, and while delays are measured.
    private static let insertsPerSecond = Scale.of(1_000, small: 100)
    private static let moderatePerSecond = Scale.of(500, small: 100)
    private static let moderateTransactions = Scale.of(10_000, small: 200)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let server = try await PrivatePostgreSQL.start()
        defer { server.stop() }
        let record = bench.memoryFolder + "/relay.ndjson"
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000", "--record", record])
        defer { simulator.kill() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("relay.db"))
        try await bench.apus("topology", "apply")
        let outbox = try await makeOutbox(on: server)
        try await emptyOutbox(outbox, broker)
        try await bench.importDevices(Self.moderateTransactions + 1, into: "relay.db") { $0 }
        let published = try await pushCommits(outbox)
        await simulator.stop()
        let delays = try Workbench.delays(
            in: record, published: published, devices: 1..<Self.moderateTransactions + 1)
        report.add("commit_to_push_p50_relay", delays[delays.count / 2], "ms")
        report.add("commit_to_push_p99_relay", delays[delays.count * 99 / 100], "ms")
    }

    /// A database that waits for the disk, which those of tests do not, and knows when each transaction was committed.
    private func makeOutbox(on server: PrivatePostgreSQL) async throws -> Outbox {
        let outbox = Outbox(server: server, database: try await server.makeDatabase())
        try await outbox.run("ALTER SYSTEM SET fsync = on")
        try await outbox.run("ALTER SYSTEM SET track_commit_timestamp = on")
        try server.kill()
        try await server.startAgain()
        let sql = try await bench.run(CommandRunner.apusPath, ["relay", "sql"])
        guard sql.exitCode == 0 else { throw BenchmarkFailure(description: "apus relay sql failed: \(sql.errors)") }
        try await outbox.run(sql.output)
        try await outbox.run("CREATE TABLE orders (number bigserial PRIMARY KEY)")
        return outbox
    }

    // MARK: A full outbox

    private func emptyOutbox(_ outbox: Outbox, _ broker: PrivateRabbitMQ) async throws {
        var bare: [BareConsumer.Figures] = []
        var full: [LoadTool.Figures] = []
        var busyBare: [BareConsumer.Figures] = []
        var busy: [LoadTool.Figures] = []
        func publishBare() async throws -> BareConsumer.Figures {
            try await BarePublisher.run(on: bench, broker: broker, count: Self.rows)
        }
        for _ in 0..<Self.rounds {
            bare.append(try await publishBare())
            try await broker.control("purge_queue", "apus.work")
            full.append(try await empty(outbox))
            try await broker.control("purge_queue", "apus.work")
            busyBare.append(try await whileInserting(outbox, publishBare))
            try await broker.control("purge_queue", "apus.work")
            busy.append(try await whileInserting(outbox) { try await empty(outbox) })
            try await broker.control("purge_queue", "apus.work")
        }
        let reference = Median.of(bare.map(\.messagesPerSecond))
        report.add(
            "events_per_second_relay_full_outbox", Median.of(full.map(\.perSecond)), "1/s", reference: reference,
            budget: .ratioAtLeast(0.5))
        report.add(
            "cpu_per_event_relay_full_outbox", Median.of(full.map(\.microseconds)), "µs",
            reference: Median.of(bare.map(\.cpuMicroseconds)))
        report.add(
            "events_per_second_relay_while_inserting", Median.of(busy.map(\.perSecond)), "1/s",
            reference: Median.of(busyBare.map(\.messagesPerSecond)), budget: .ratioAtLeast(0.5))
        report.add(
            "events_per_second_bare_publisher_while_inserting", Median.of(busyBare.map(\.messagesPerSecond)), "1/s",
            reference: reference)
    }

    /// Fills the outbox, and has a relay empty it.
    private func empty(_ outbox: Outbox) async throws -> LoadTool.Figures {
        try await outbox.run(
            """
            SELECT count(apus_outbox.publish(e ->> 'type', e -> 'data'))
            FROM (SELECT $body$\(BarePublisher.event)$body$::jsonb AS e) event, generate_series(1, \(Self.rows))
            """)
        let relay = try outbox.startRelay(in: bench)
        func moved() async throws -> Int { try await relay.metric("apus_relay_rows_total", "published") }
        try await relay.wait("the first row") { try await moved() > 0 }
        let clock = ContinuousClock()
        let (start, cpu) = (clock.now, ProcessorTime.microseconds(ofProcess: relay.command.identifier))
        let first = try await moved()
        try await relay.wait("\(Self.rows) rows", pauseMilliseconds: 10) { try await moved() >= Self.rows }
        let seconds = start.duration(to: clock.now).seconds
        let spent = ProcessorTime.microseconds(ofProcess: relay.command.identifier) - cpu
        await relay.drain(seconds: 10)
        let count = Double(max(1, Self.rows - first))
        return LoadTool.Figures(perSecond: count / seconds, microseconds: spent / count)
    }

    /// Measures something while backends commit events, and then empties the outbox.
    private func whileInserting<Figures>(
        _ outbox: Outbox, _ measure: () async throws -> Figures
    ) async throws -> Figures {
        // For longer than it takes to empty the outbox.
        let inserting = try outbox.startTransactions(
            in: bench, clients: Self.clients, perSecond: Self.insertsPerSecond, count: 1_000_000)
        let figures = try await measure()
        guard !inserting.hasEnded else { throw BenchmarkFailure(description: "pgbench ended: \(inserting.errors)") }
        inserting.signal(SIGKILL)
        _ = await inserting.end()
        try await outbox.run("TRUNCATE apus_outbox.event")
        return figures
    }

    // MARK: From commit to push

    /// Commits at a moderate rate, and waits for the pushes.
    ///
    /// - Returns: when each was committed, in microseconds since 1970.
    private func pushCommits(_ outbox: Outbox) async throws -> [Int64] {
        try await outbox.run("TRUNCATE apus_outbox.event, orders RESTART IDENTITY")
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.readiness(200)
        let relay = try outbox.startRelay(in: bench)
        try await relay.readiness(200)
        let transactions = try outbox.startTransactions(
            in: bench, clients: Self.clients, perSecond: Self.moderatePerSecond,
            count: Self.moderateTransactions / Self.clients)
        let end = await transactions.end()
        guard end.exitCode == 0 else { throw BenchmarkFailure(description: "pgbench failed: \(end.errors)") }
        try await worker.wait(forAccepted: Self.moderateTransactions)
        await relay.drain(seconds: 10)
        await worker.drain(seconds: 10)
        return try await outbox.run(
            "SELECT (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1e6)::bigint FROM orders ORDER BY number"
        ).split(separator: "\n").compactMap { Int64($0) }
    }

    /// A backend's database with an outbox.
    private struct Outbox {
        let server: PrivatePostgreSQL
        let database: String

        @discardableResult
        func run(_ sql: String) async throws -> String { try await server.run(sql, database: database) }

        func startRelay(in bench: Workbench) throws -> WorkerProcess {
            try WorkerProcess(
                in: bench.temporary,
                arguments: [
                    "relay", "--listen", "127.0.0.1:0", "--set", "relay.url=\(server.url(database: database))",
                ])
        }

        /// Has pgbench commit orders, each with a push to the device of its number.
        func startTransactions(
            in bench: Workbench, clients: Int, perSecond: Int, count: Int
        ) throws -> RunningCommand {
            let script = try bench.write(
                "order.sql",
                """
                BEGIN;
                WITH ordered AS (INSERT INTO orders DEFAULT VALUES RETURNING number)
                SELECT apus_outbox.publish('push.requested', jsonb_build_object(
                    'app', 'chat', 'deviceIds', jsonb_build_array('device-' || number),
                    'notification', '{"title": "On its way"}'::jsonb)) FROM ordered;
                COMMIT;

                """)
            let command = server.command(
                "pgbench",
                [
                    "--no-vacuum", "--client=\(clients)", "--transactions=\(count)", "--rate=\(perSecond)",
                    "--file=\(script)", database,
                ])
            return try RunningCommand(program: command[0], Array(command.dropFirst()), in: bench.temporary)
        }
    }
}

/// `bare-publisher`, the reference for publishing with confirms: the least that a publisher in C can do.
enum BarePublisher {
    /// The event that scenarios publish.
    static let event = TestEvents.pushRequested(
        "18231", to: .devices([TestDevices.name(18_231)]),
        notification: #"{"title":"On its way","body":"Order 18231"}"#)
    /// How many messages wait for their confirms at most.
    private static let window = 1_000

    /// Publishes the event many times to the exchange of events.
    ///
    /// - Parameters:
    ///   - bench: the workbench to run on.
    ///   - broker: the broker of the exchange.
    ///   - count: how often.
    /// - Returns: the cost of a message.
    /// - Throws: `BenchmarkFailure` with the publisher's output if it fails.
    static func run(
        on bench: Workbench, broker: PrivateRabbitMQ, count: Int
    ) async throws -> BareConsumer.Figures {
        let bare = try await bench.run(
            CommandRunner.path(of: "bare-publisher"),
            [
                "127.0.0.1", "\(broker.port)", "guest", "guest", "apus.changes", "push.requested", "\(count)",
                "\(window)", try bench.write("body.json", event),
            ])
        guard bare.exitCode == 0,
            let figures = try? JSONDecoder().decode(BareConsumer.Figures.self, from: Data(bare.output.utf8))
        else { throw BenchmarkFailure(description: "bare-publisher failed: \(bare.output)\(bare.errors)") }
        return figures
    }
}
