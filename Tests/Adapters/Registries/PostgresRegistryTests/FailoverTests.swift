import ChangeEvents
import PostgreSQL
import PushTestKit
import RegistryCore
import Testing

@testable import PostgresRegistry

/// A name that leads to another server for a while: a standby, one that takes no writes, one that is gone.
struct FailoverTests {
    private static func open(
        _ port: UInt16, _ database: String, of server: PrivatePostgreSQL, parameters: String = "",
        mode: RegistryOpenMode = .create, ageMilliseconds: Int = 300_000
    ) throws -> PostgresRegistry {
        try PostgresRegistry.open(
            url: server.url(database: database, parameters: parameters).replacing(
                ":\(server.port)/", with: ":\(port)/"),
            mode: mode, callMilliseconds: 60_000, connectMilliseconds: 60_000, ageMilliseconds: ageMilliseconds)
    }

    private static func expectUnavailable(
        mentioning word: String, from body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: RegistryError.self, sourceLocation: sourceLocation) { try body() }
        let message = error?.message ?? ""
        #expect(error?.code == .unavailable && message.contains(word), "\(message)", sourceLocation: sourceLocation)
    }

    /// Waits until a standby has what the primary has.
    private static func follow(_ primary: PrivatePostgreSQL, _ standby: PrivatePostgreSQL) async throws {
        let position = try await primary.run("SELECT pg_current_wal_flush_lsn()", database: "postgres")
        try await eventually("the standby to have replayed \(position)", equals: "t") {
            try await standby.run("SELECT pg_last_wal_replay_lsn() >= '\(position)'", database: "postgres")
        }
    }

    @Test(
        "Connections that a failover has led to the standby are given up as soon as something is to be written",
        arguments: ["", "target_session_attrs=any", "target_session_attrs=read-write"])
    func leavesStandby(parameters: String) async throws {
        let primary = try await PrivatePostgreSQL.start()
        defer { primary.stop() }
        let database = try await primary.makeDatabase()
        let standby = try await primary.startStandby()
        defer { standby.stop() }
        let proxy = try await FaultProxy.start(to: primary.port)
        let registry = try Self.open(proxy.port, database, of: primary, parameters: parameters)
        try registry.register(try Fixture.registrations(0..<3))
        try await Self.follow(primary, standby)

        try await proxy.redirect(to: standby.port)
        try await proxy.resetAll()
        // libpq's own words, where the URL asks libpq.
        let word = parameters == "target_session_attrs=read-write" ? "session is read-only" : "primary"
        // The end of the old connection may be noticed first by its use.
        try await eventually("a write to be refused") {
            let error = #expect(throws: RegistryError.self) { try registry.upsert([try Fixture.device(8)]) }
            #expect(error?.code == .unavailable)
            return error?.message.contains(word) == true
        }
        Self.expectUnavailable(mentioning: word) { try registry.upsert([try Fixture.device(8)]) }
        if parameters == "target_session_attrs=any" { #expect(try registry.deviceCount() == 3) }
        // A client that only reads may use a standby.
        let reader = try Self.open(proxy.port, database, of: primary, mode: .readOnly)
        #expect(try reader.deviceCount() == 3)

        // The connections to the standby stay open.
        try await proxy.redirect(to: primary.port)
        try registry.upsert([try Fixture.device(8)])
        #expect(
            try registry.countBadges(["device-8"], for: EventDigest(source: "s", identifier: "i"), isRepeated: false)
                == [1])
        #expect(try registry.deviceCount() == 4)
        try await proxy.stop()
    }

    @Test("A server that is told to take no writes is left, and used again when it takes them")
    func readOnlyByDefault() async throws {
        let server = try await PrivatePostgreSQL.start()
        defer { server.stop() }
        let database = try await server.makeDatabase()
        let registry = try Self.open(server.port, database, of: server)
        try registry.upsert([try Fixture.device(1)])
        func setReadOnly(_ value: String) async throws {
            try await server.run("ALTER SYSTEM SET default_transaction_read_only = \(value)", database: "postgres")
            try await server.run("SELECT pg_reload_conf()", database: "postgres")
            try await eventually("the setting to be \(value)", equals: value) {
                try await server.run("SHOW default_transaction_read_only", database: "postgres")
            }
        }
        try await setReadOnly("on")
        // Our session may hear of it a moment later than a new one.
        try await eventually("a write to be refused") {
            do { try registry.upsert([try Fixture.device(1)]) } catch { return true }
            return false
        }
        Self.expectUnavailable(mentioning: "default_transaction_read_only") {
            try registry.upsert([try Fixture.device(2)])
        }
        let error = #expect(throws: RegistryError.self) {
            try Self.open(server.port, database, of: server, mode: .readOnly).requireWritable()
        }
        #expect(error?.message.contains("default_transaction_read_only") == true)
        try await setReadOnly("off")
        try registry.upsert([try Fixture.device(2)])
        #expect(try registry.deviceCount() == 2)
    }

    @Test("A connection that has reached its age follows the name, and goes on where the name leads nowhere")
    func followsName() async throws {
        let (first, second) = (try await PrivatePostgreSQL.start(), try await PrivatePostgreSQL.start())
        defer { for server in [first, second] { server.stop() } }
        let database = try await first.makeDatabase()
        let other = try await second.makeDatabase()
        try await second.run("ALTER DATABASE \(other) RENAME TO \(database)", database: "postgres")
        try await second.run("ALTER ROLE apus PASSWORD '\(first.password)'", database: "postgres")
        let proxy = try await FaultProxy.start(to: first.port)
        let young = try Self.open(proxy.port, database, of: first)
        let old = try Self.open(proxy.port, database, of: first, ageMilliseconds: 0)
        try young.upsert([try Fixture.device(1)])

        try await proxy.redirect(to: try FreePorts.find(1)[0])
        for _ in 0..<2 { #expect(try old.deviceCount() == 1) }
        try old.upsert([try Fixture.device(2)])

        try await proxy.redirect(to: second.port)
        #expect(try old.deviceCount() == 0)
        #expect(try young.deviceCount() == 2)
        try await proxy.stop()
    }

    @Test("A transaction that failed and that nobody ended does not stay in the way of the next call")
    func abandonedTransaction() async throws {
        try await Fixture.withRegistry { registry in
            let deadline = Deadline(milliseconds: 60_000)
            try registry.connection.execute("BEGIN", deadline)
            #expect(throws: RegistryError.self) { try registry.connection.execute("SELECT 1 / 0", deadline) }
            #expect(try registry.deviceCount() == 0)
            try registry.upsert([try Fixture.device(1)])
            #expect(try registry.deviceCount() == 1)
        }
    }
}
