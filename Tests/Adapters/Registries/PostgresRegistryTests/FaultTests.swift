import EventLoop
import Glibc
import PostgreSQL
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import PostgresRegistry

/// Servers that go away, hang, refuse, or hold something else than a registry.
struct FaultTests {
    private let server: PrivatePostgreSQL
    private let database: String
    private let url: String

    init() async throws {
        server = try await PrivatePostgreSQL.shared()
        database = try await server.makeDatabase()
        url = server.url(database: database)
    }

    private func expect(
        _ code: RegistryError.Code, mentioning words: String..., from body: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: RegistryError.self, sourceLocation: sourceLocation) { try body() }
        let message = error?.message ?? ""
        #expect(error?.code == code, "\(message)", sourceLocation: sourceLocation)
        #expect(!message.contains(server.password), "\(message)", sourceLocation: sourceLocation)
        for word in words { #expect(message.contains(word), "\(message)", sourceLocation: sourceLocation) }
    }

    private func open(
        _ url: String? = nil, mode: RegistryOpenMode = .create, callMilliseconds: Int = 120_000,
        connectMilliseconds: Int = 60_000
    ) throws -> PostgresRegistry {
        try PostgresRegistry.open(
            url: url ?? self.url, mode: mode, callMilliseconds: callMilliseconds,
            connectMilliseconds: connectMilliseconds)
    }

    // MARK: Connections that end

    @Test("A connection that the server ended between two calls is made again unnoticed")
    func terminatedBetweenCalls() async throws {
        let registry = try open()
        try registry.register(try Fixture.registrations(0..<3))
        for _ in 0..<3 {
            let ended = try await server.run(
                """
                SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                WHERE datname = '\(database)' AND application_name = 'apus'
                """, database: "postgres")
            #expect(ended == "t")
            #expect(try registry.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
            try registry.upsert([try Fixture.device(7)])
        }
    }

    @Test("A server that was killed is unavailable, and serves what it had as soon as it is back")
    func killedServer() async throws {
        let own = try await PrivatePostgreSQL.start()
        defer { own.stop() }
        let registry = try open(own.url(database: try await own.makeDatabase()))
        try registry.register(try Fixture.registrations(0..<3))
        try own.kill()
        for _ in 0..<2 {
            expect(.unavailable, mentioning: "connects again", "127.0.0.1:\(own.port)") {
                _ = try registry.resolve([Fixture.request(1)], limit: 5)
            }
            expect(.unavailable) { try registry.upsert([try Fixture.device(8)]) }
        }
        try await own.startAgain()
        #expect(try registry.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        try registry.register(try Fixture.registrations(3..<5))
        #expect(try registry.deviceCount() == 5)
    }

    @Test("A connection that ends in the middle of a transaction leaves nothing of it")
    func terminatedWithinCall() async throws {
        let registry = try open()
        try registry.register(try Fixture.registrations(0..<3))
        // The server ends the connection itself, when a device is added.
        try await server.run(
            """
            CREATE FUNCTION apus.suicide() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';
            CREATE TRIGGER suicide BEFORE INSERT ON apus.device FOR EACH ROW EXECUTE FUNCTION apus.suicide()
            """, database: database)
        expect(.unavailable) { try registry.register(try Fixture.registrations(3..<9)) }
        #expect(try registry.deviceCount() == 3)
        try await server.run("DROP TRIGGER suicide ON apus.device", database: database)
        try registry.register(try Fixture.registrations(3..<9))
        #expect(try registry.deviceCount() == 9)
    }

    // MARK: Servers that hang

    @Test("A server that stops answering costs one deadline, and the next call connects again")
    func hangingServer() async throws {
        let registry = try open(callMilliseconds: 500)
        try registry.register(try Fixture.registrations(0..<3))
        let backend = try await server.backend(of: database)
        kill(backend, SIGSTOP)
        defer { kill(backend, SIGCONT) }
        expect(.unavailable, mentioning: "500 ms") { _ = try registry.deviceCount() }
        #expect(try registry.deviceCount() == 3)
    }

    @Test("A locked table costs one deadline, and the connection goes on")
    func lockedTable() async throws {
        let registry = try open(callMilliseconds: 500)
        let other = try open()
        try other.lockDevices()
        expect(.unavailable, mentioning: "500 ms") { try registry.upsert([try Fixture.device(1)]) }
        expect(.unavailable, mentioning: "500 ms") { _ = try registry.deviceCount() }
        other.disconnect()
        #expect(try registry.deviceCount() == 0)
        try registry.upsert([try Fixture.device(1)])
        #expect(try registry.deviceCount() == 1)
    }

    @Test("A lock is waited for as long as is set, which is told of, and a check finds it and changes nothing")
    func lockTimeout() async throws {
        let registry = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000, lockMilliseconds: 50)
        for isThorough in [false, true] { try registry.checkWriting(thoroughly: isThorough) }
        let other = try open()
        try other.lockDevices()
        expect(.unavailable, mentioning: "locked") { try registry.upsert([try Fixture.device(1)]) }
        for isThorough in [false, true] {
            expect(.unavailable, mentioning: "locked") { try registry.checkWriting(thoroughly: isThorough) }
        }
        other.disconnect()
        for isThorough in [false, true] { try registry.checkWriting(thoroughly: isThorough) }
        #expect(try registry.deviceCount() == 0)
        #expect(try registry.poolConfigurations().isEmpty)
        expect(.readOnly, mentioning: "cannot be written") {
            try open(mode: .readOnly).checkWriting(thoroughly: false)
        }
    }

    @Test("A server that accepts a connection and says nothing is given up after the deadline")
    func silentServer() throws {
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        defer { close(socket) }
        expect(.unavailable, mentioning: "200 ms", "127.0.0.1:\(port)") {
            _ = try open("postgresql://apus:\(server.password)@127.0.0.1:\(port)/x", connectMilliseconds: 200)
        }
    }

    // MARK: Several servers

    private func url(of servers: [PrivatePostgreSQL], database: String) -> String {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return "postgresql://apus:\(servers[0].password)@\(hosts)/\(database)"
    }

    @Test("Of several servers that are named, one that says nothing does not keep us from the next")
    func silentServerOfSeveral() throws {
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        defer { close(socket) }
        let url = "postgresql://apus:\(server.password)@127.0.0.1:\(port),127.0.0.1:\(server.port)/\(database)"
        #expect(try open(url, connectMilliseconds: 4_000).deviceCount() == 0)
        expect(.unavailable, mentioning: "127.0.0.1:\(port)") {
            _ = try open(
                "postgresql://apus:\(server.password)@127.0.0.1:\(port),127.0.0.1:\(port)/x", connectMilliseconds: 400)
        }
    }

    @Test(
        "When the primary is killed or hangs, and its standby is promoted, the registry goes on there",
        arguments: [true, false])
    func failsOver(isKilled: Bool) async throws {
        let primary = try await PrivatePostgreSQL.start()
        defer { primary.stop() }
        let name = try await primary.makeDatabase()
        let standby = try await primary.startStandby()
        defer { standby.stop() }
        // The standby is named first: it must not be taken for the primary.
        let registry = try open(
            url(of: [standby, primary], database: name), callMilliseconds: 2_000, connectMilliseconds: 4_000)
        try registry.register(try Fixture.registrations(0..<3))
        let position = try await primary.run("SELECT pg_current_wal_flush_lsn()", database: name)
        try await eventually("the standby to have replayed \(position)", equals: "t") {
            try await standby.run("SELECT pg_last_wal_replay_lsn() >= '\(position)'", database: name)
        }
        if isKilled { try primary.kill() } else { try primary.pause() }
        expect(.unavailable) { try registry.upsert([try Fixture.device(8)]) }
        try await standby.promote()
        #expect(try registry.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        try registry.register(try Fixture.registrations(3..<5))
        #expect(try registry.deviceCount() == 5)
        if !isKilled { try primary.resume() }
    }

    // MARK: Refusals

    @Test("A wrong password, a missing database and a closed port are told apart, without the password")
    func refusals() throws {
        let wrong = "postgresql://apus:wrong\(server.password)@127.0.0.1:\(server.port)/\(database)"
        expect(.unavailable, mentioning: "password authentication failed") { _ = try open(wrong) }
        expect(.unavailable, mentioning: "\"none\" does not exist") { _ = try open(server.url(database: "none")) }
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(socket)
        expect(.unavailable, mentioning: "Connection refused") {
            _ = try open("postgresql://apus:\(server.password)@127.0.0.1:\(port)/x")
        }
        expect(.unavailable, mentioning: "no-such-host.invalid") {
            _ = try open("postgresql://apus:\(server.password)@no-such-host.invalid/x")
        }
    }

    @Test(
        "A URL that cannot be read is refused without a word of it",
        arguments: [
            "postgresql://user:se@cret@host/db", "postgresql://user:se/cret@host/db",
            "postgresql://user:se?cret@host/db",
            "postgresql://user:se#cret@host/db", "postgresql://user:secret@host:12x/db",
            "postgresql://user:secret@[::1/db",
            "postgresql://user:se%zzcret@host/db", "postgresql://user:secret@host/db?no_such=parameter",
            "postgresql://user:secret@host/d b", "mysql://user:secret@host/db", "host=secret", "",
        ])
    func unreadableURL(_ url: String) {
        let error = #expect(throws: RegistryError.self) {
            _ = try PostgresRegistry.open(url: url, mode: .create, connectMilliseconds: 100)
        }
        #expect(error?.code == .invalid || error?.code == .unavailable, "\(error?.message ?? "")")
        #expect(error?.message.contains("cret") == false, "\(error?.message ?? "")")
    }

    @Test(
        "A parameter that libpq does not know is named, with no other word of the URL",
        arguments: [
            ("pgbouncer=true", "pgbouncer"), ("sslmode=require&schema=public", "schema"),
            ("connection_limit=5", "connection_limit"), ("pool_timeout=1&pgbouncer=true", "pool_timeout"),
        ])
    func unknownParameter(query: String, name: String) {
        let error = #expect(throws: RegistryError.self) {
            _ = try ServerAddress(ofRegistry: "postgresql://user:se%40cret@host/db?\(query)")
        }
        let message = error?.message ?? ""
        #expect(error?.code == .invalid && message.contains("has the parameter \(name), which libpq"), "\(message)")
        #expect(!message.contains("cret") && !message.contains("host"), "\(message)")
    }

    @Test(
        "What may be a part of a password is not taken for the name of a parameter",
        arguments: ["user:1@host/db?cret=x@y", "user:1@host/db?a=b?cret=x", "user:1@host/db?cret", "host/db?cr%65t=x"])
    func noParameter(rest: String) {
        let error = #expect(throws: RegistryError.self) { _ = try ServerAddress(ofRegistry: "postgresql://\(rest)") }
        #expect(error?.message.contains("has the parameter") == false, "\(error?.message ?? "")")
    }

    @Test("A newer schema is refused with both versions, at the first connection and at every later one")
    func otherSchema() async throws {
        let registry = try open()
        try await server.run(
            "UPDATE apus.schema_version SET version = 99; DROP TABLE apus.schema_migration", database: database)
        for mode in [RegistryOpenMode.readOnly, .readWrite, .create] {
            expect(.newerSchema, mentioning: "99") { _ = try open(mode: mode) }
        }
        registry.disconnect()
        expect(.newerSchema, mentioning: "99") { _ = try registry.deviceCount() }
    }

    @Test("A database without a registry is made one by who may write, and left alone by who may not")
    func emptyDatabase() async throws {
        expect(.readOnly, mentioning: "no registry") { _ = try open(mode: .readOnly) }
        expect(.notFound, mentioning: "no registry") { _ = try open(mode: .existing) }
        #expect(try await server.run("SELECT to_regnamespace('apus') IS NULL", database: database) == "t")
        let writer = try open(mode: .readWrite)
        try writer.register(try Fixture.registrations(0..<3))
        let reader = try open(mode: .readOnly)
        #expect(try reader.resolve([Fixture.request(2)], limit: 5)[0].devices.count == 1)
        expect(.readOnly, mentioning: "cannot be written") { try reader.upsert([try Fixture.device(9)]) }
        #expect(try reader.deviceCount() == 3)
    }

    @Test("Another program's schema is left alone, and an empty one that the administrator made is used")
    func foreignSchema() async throws {
        try await server.run("CREATE SCHEMA apus; CREATE TABLE apus.note (text text)", database: database)
        expect(.invalid, mentioning: "another program") { _ = try open() }
        try await server.run("DROP TABLE apus.note", database: database)
        #expect(try open().deviceCount() == 0)
    }

    @Test("A database that cannot hold every name is refused")
    func foreignEncoding() async throws {
        let name = "latin_\(database)"
        try await server.run(
            "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", database: "postgres")
        expect(.invalid, mentioning: "LATIN1", "createdb") { _ = try open(server.url(database: name)) }
    }

    // MARK: TLS

    @Test("A connection is encrypted and the server's certificate verified, as the URL says")
    func encrypts() throws {
        func url(_ parameters: String) -> String {
            server.url(database: database, user: "secure", parameters: parameters)
        }
        let verified = "sslmode=verify-full&sslrootcert=\(server.certificateFile)"
        #expect(try open(url(verified)).deviceCount() == 0)
        #expect(try open(url("sslmode=require")).deviceCount() == 0)
        expect(.unavailable, mentioning: "pg_hba.conf") { _ = try open(url("sslmode=disable")) }
        expect(.unavailable, mentioning: "certificate") {
            _ = try open(url("sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt"))
        }
        // The system's anchors are asked, and do not know the server.
        expect(.unavailable, mentioning: "certificate verify failed") { _ = try open(url("sslmode=verify-full")) }
    }
}

extension PostgresRegistry {
    /// Takes a lock that keeps all other sessions from the devices, until `disconnect`.
    func lockDevices() throws {
        let deadline = Deadline(milliseconds: 60_000)
        try connection.execute("BEGIN; LOCK TABLE apus.device IN ACCESS EXCLUSIVE MODE", deadline)
    }

    /// Ends the connection; the next call makes another.
    func disconnect() { connection.close() }
}
