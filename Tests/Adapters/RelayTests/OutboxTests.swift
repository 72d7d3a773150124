import PostgreSQL
import PushTestKit
import Testing

@testable import Relay

@Suite("The outbox in a backend's database")
struct OutboxTests {
    @Test("What makes it may be run again, and its roles can do nothing beyond their functions")
    func rights() async throws {
        let outbox = try await TestOutbox.make()
        let suffix = outbox.database
        try await outbox.run("CREATE ROLE \"the relay \(suffix)\"; CREATE ROLE \"a backend \(suffix)\"")
        let sql = OutboxSQL.text(relayRole: "the relay \(suffix)", publisherRole: "a backend \(suffix)")
        try await outbox.run(sql)
        try await outbox.run(sql)
        let asBackend = "SET ROLE \"a backend \(suffix)\"; "
        try await outbox.run(asBackend + "SELECT apus_outbox.push('chat', ARRAY['mei'], '{\"title\": \"Hi\"}')")
        let asRelay = "SET ROLE \"the relay \(suffix)\"; "
        #expect(try await outbox.run(asRelay + "SELECT number FROM apus_outbox.take(10)") == "1")
        for refused in [
            asBackend + "SELECT * FROM apus_outbox.event", asBackend + "SELECT * FROM apus_outbox.take(1)",
            asBackend + "DELETE FROM apus_outbox.event", asRelay + "DELETE FROM apus_outbox.event",
            asRelay + "SELECT apus_outbox.push('chat', ARRAY['mei'], '{}')",
        ] {
            await #expect(throws: PrivateServerFailure.self, "\(refused)") { try await outbox.run(refused) }
        }
    }

    @Test("A database without an outbox, and a table that a crash empties, are told with what to do")
    func unusable() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let other = TestOutbox(server: server, database: try await server.makeDatabase())
        #expect { _ = try Outbox(url: other.url).take(1) } throws: { error in
            "\(error)".contains("apus relay sql") && (error as? OutboxError)?.code == .unusable
        }
        let outbox = try await TestOutbox.make()
        try await outbox.run("ALTER TABLE apus_outbox.event SET UNLOGGED")
        #expect { _ = try Outbox(url: outbox.url).take(1) } throws: { "\($0)".contains("UNLOGGED") }
        #expect { _ = try Outbox(url: "postgres:secret") } throws: { error in
            "\(error)".contains("relay.url") && !"\(error)".contains("secret")
        }
    }

    @Test("A probe tells the oldest row's age, and which right or function is lacking")
    func probe() async throws {
        let outbox = try await TestOutbox.make()
        #expect(try OutboxRelay.probe(url: outbox.url).waitedMilliseconds == nil)
        try await outbox.publish(1...1)
        #expect(try OutboxRelay.probe(url: outbox.url).waitedMilliseconds ?? -1 >= 0)
        #expect(try await outbox.rowCount() == 1)
        let role = "looks_\(outbox.database)"
        try await outbox.run(
            OutboxSQL.text(relayRole: nil, publisherRole: nil)
                + "CREATE ROLE \(role) LOGIN PASSWORD 'word'; GRANT USAGE ON SCHEMA apus_outbox TO \(role);"
                + "GRANT EXECUTE ON FUNCTION apus_outbox.problem(), apus_outbox.waited() TO \(role)")
        let url = "postgresql://\(role):word@127.0.0.1:\(outbox.server.port)/\(outbox.database)"
        #expect { _ = try OutboxRelay.probe(url: url) } throws: { error in
            "\(error)".contains("no right to call take(integer, bigint)")
        }
        try await outbox.run("DROP FUNCTION apus_outbox.take(integer, bigint)")
        #expect { _ = try OutboxRelay.probe(url: outbox.url) } throws: { error in
            "\(error)".contains("has no outbox") && "\(error)".contains("apus relay sql")
        }
    }

    @Test("A commit ends the wait for rows")
    func wakes() async throws {
        let outbox = try await TestOutbox.make()
        let relay = try Outbox(url: outbox.url)
        #expect(try relay.take(10).isEmpty)
        try await outbox.publish(1...2)
        // The time only ends a hang: the notification is there.
        try relay.waitForRows(milliseconds: 60_000)
        #expect(try relay.take(10).count == 2)
    }

    @Test("Rows before the number where a look begins are left out, and stay")
    func leavesOut() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.publish(1...3)
        let relay = try Outbox(url: outbox.url)
        #expect(try relay.take(10, from: 2).map(\.number) == [2, 3])
        relay.release()
        #expect(try relay.take(10).map(\.number) == [1, 2, 3])
    }

    @Test(
        "Whatever transactions do, each committed row is moved, in the order of its key, and no other",
        arguments: 0..<6)
    func movesWhatIsCommitted(_ round: Int) async throws {
        let outbox = try await TestOutbox.make()
        let seed = UInt64.random(in: 0 ... .max)
        var walk = try OutboxWalk(outbox, seed: seed)
        for _ in 0..<250 { try walk.step() }
        try walk.end()
        #expect(walk.problem == nil, "seed \(seed): \(walk.problem ?? "")")
        #expect(walk.movedCount == walk.committedCount && walk.committedCount > 0, "seed \(seed)")
        #expect(try await outbox.rowCount() == 0)
    }
}

/// Random transactions of several backends, and several relays that die now and then.
struct OutboxWalk {
    private struct Writer {
        let connection: PostgresConnection<OutboxError>
        /// The keys that it has written, which no other writer may have meanwhile: they lock the same record.
        var keys: Set<String> = []
        /// The rows of each open savepoint; the first are those outside of all.
        var rows: [[(key: String, number: Int)]] = []
        var isOpen: Bool { !rows.isEmpty }
    }

    private var generator: SeededGenerator
    private var writers: [Writer] = []
    private var relays: [(outbox: Outbox, held: [OutboxRow])] = []
    private var nextNumber = 0
    /// The committed rows of each key, in order.
    private var committed: [String: [Int]] = [:]
    private var moved: [String: [Int]] = [:]
    private(set) var problem: String?

    var committedCount: Int { committed.values.reduce(0) { $0 + $1.count } }
    var movedCount: Int { moved.values.reduce(0) { $0 + $1.count } }

    init(_ outbox: TestOutbox, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        for _ in 0..<4 { writers.append(Writer(connection: try outbox.session())) }
        for _ in 0..<3 { relays.append((try Outbox(url: outbox.url), [])) }
    }

    private mutating func chance(_ denominator: Int) -> Bool { Int.random(in: 0..<denominator, using: &generator) == 0 }

    mutating func step() throws {
        if chance(3) { try stepOfRelay() } else { try stepOfWriter() }
    }

    // MARK: Writers

    private mutating func stepOfWriter() throws {
        let index = writers.indices.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<8, using: &generator) {
        case 0 where writers[index].isOpen: try finish(index, commits: !chance(4))
        case 1 where writers[index].isOpen:
            try execute("SAVEPOINT s", index)
            writers[index].rows.append([])
        case 2 where writers[index].rows.count > 1:
            try execute("ROLLBACK TO SAVEPOINT s; RELEASE SAVEPOINT s", index)
            writers[index].rows.removeLast()
        case 3 where writers[index].isOpen && chance(4):
            // As pg_terminate_backend, or a crash of the backend, would.
            writers[index].connection.close()
            try writers[index].connection.ensureOpen()
            forget(index)
        default: try write(index)
        }
    }

    private mutating func write(_ index: Int) throws {
        let key = "k\(Int.random(in: 0..<6, using: &generator))"
        guard !writers.indices.contains(where: { $0 != index && writers[$0].keys.contains(key) }) else { return }
        if !writers[index].isOpen {
            try execute("BEGIN", index)
            writers[index].rows = [[]]
        }
        writers[index].keys.insert(key)
        nextNumber += 1
        try execute("SELECT apus_outbox.publish('x', '{}', key => '\(key)', id => '\(key) \(nextNumber)')", index)
        writers[index].rows[writers[index].rows.count - 1].append((key, nextNumber))
    }

    private mutating func finish(_ index: Int, commits: Bool) throws {
        try execute(commits ? "COMMIT" : "ROLLBACK", index)
        if commits { for (key, number) in writers[index].rows.joined() { committed[key, default: []].append(number) } }
        forget(index)
    }

    private mutating func forget(_ index: Int) {
        writers[index].rows = []
        writers[index].keys = []
    }

    private func execute(_ sql: String, _ index: Int) throws {
        try writers[index].connection.execute(sql, Deadline(milliseconds: 120_000))
    }

    // MARK: Relays

    private mutating func stepOfRelay() throws {
        let index = relays.indices.randomElement(using: &generator) ?? 0
        guard !relays[index].held.isEmpty else {
            relays[index].held = try relays[index].outbox.take(Int.random(in: 1...6, using: &generator))
            return note(relays[index].held)
        }
        if chance(4) {
            relays[index].outbox.release()
        } else {
            try relays[index].outbox.finish(published: relays[index].held.map(\.number), refused: [])
        }
        relays[index].held = []
    }

    /// Counts rows as published; one that comes again after the death of its relay is where it was.
    private mutating func note(_ rows: [OutboxRow]) {
        for row in rows {
            let text = String(decoding: row.event, as: UTF8.self)
            guard let match = text.firstMatch(of: /"id": "(k[0-9]+) ([0-9]+)"/), let number = Int(match.2) else {
                problem = "no id in \(text)"
                continue
            }
            let key = String(match.1)
            guard moved[key]?.contains(number) != true else { continue }
            let place = moved[key]?.count ?? 0
            let expected = committed[key].flatMap { $0.indices.contains(place) ? $0[place] : nil }
            if expected != number {
                problem = "\(key): \(number) came in place of \(expected.map(String.init) ?? "none")"
            }
            moved[key, default: []].append(number)
        }
    }

    mutating func end() throws {
        for index in writers.indices where writers[index].isOpen { try finish(index, commits: true) }
        for index in relays.indices {
            relays[index].outbox.release()
            relays[index].held = []
        }
        while true {
            let rows = try relays[0].outbox.take(10)
            guard !rows.isEmpty else { return }
            note(rows)
            try relays[0].outbox.finish(published: rows.map(\.number), refused: [])
        }
    }
}
