import Notifications
import PostgreSQL
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import PostgresRegistry

/// A PgBouncer before the server, which lends one session to many.
struct PoolerTests {
    private static let transactions = Task {
        try await PrivatePgBouncer.start(before: try await .shared(), mode: .transaction)
    }
    private static let sessions = Task {
        try await PrivatePgBouncer.start(before: try await .shared(), mode: .session)
    }

    /// The pooler of a mode that these tests share.
    private static func pooler(_ mode: PrivatePgBouncer.Mode) async throws -> PrivatePgBouncer {
        try await (mode == .session ? sessions : transactions).value
    }

    private static func open(
        _ url: String, mode: RegistryOpenMode = .create, callMilliseconds: Int = 120_000, lockMilliseconds: Int? = nil
    ) throws -> PostgresRegistry {
        try PostgresRegistry.open(
            url: url, mode: mode, callMilliseconds: callMilliseconds, connectMilliseconds: 60_000,
            lockMilliseconds: lockMilliseconds)
    }

    /// Does something with an empty registry behind a pooler.
    private static func withRegistry(
        _ mode: PrivatePgBouncer.Mode = .transaction, _ body: (String) throws -> Void
    ) async throws {
        let pooler = try await pooler(mode)
        try await PrivatePostgreSQL.shared().withDatabase { try body(pooler.url(database: $0)) }
    }

    @Test(
        "Behind a pooler that lends a session for a transaction, the registry keeps what the ports promise",
        arguments: RegistryConformance.all + RegistryConformance.withCrowd)
    func conforms(_ conformance: RegistryConformance) async throws {
        try await Self.withRegistry { try conformance.check(try Self.open($0)) }
    }

    @Test("Behind such a pooler, the registry keeps to its quotas", arguments: QuotaConformance.all)
    func hasQuotas(_ conformance: QuotaConformance) async throws {
        try await Self.withRegistry { try conformance.check(try Self.open($0)) }
    }

    @Test(
        "Whatever two connections do in turn through either pooler, they answer as the in-memory registry",
        arguments: [PrivatePgBouncer.Mode.transaction, .session])
    func agreesWithTheOracle(_ mode: PrivatePgBouncer.Mode) async throws {
        try await Self.withRegistry(mode) { url in
            var walk = RegistryRandomWalk(
                AlternatingRegistry(try Self.open(url), try Self.open(url)), seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 300)
        }
        try await Self.withRegistry(mode) { url in
            var walk = SubscriptionRandomWalk(try Self.open(url), seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 200)
        }
    }

    // MARK: State of the session

    /// All that a session is set to, what it has prepared, and the locks that it holds.
    ///
    /// The settings of a language are there as soon as a trigger has used it, and a pooler that keeps statements names
    /// them itself.
    private static let state = """
        SELECT name, setting FROM pg_settings
        WHERE name NOT IN ('application_name', 'transaction_isolation') AND name NOT LIKE 'plpgsql.%' ORDER BY name;
        SELECT name, statement FROM pg_prepared_statements WHERE name NOT LIKE 'PGBOUNCER\\_%';
        SELECT locktype, objid FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
        """

    private static func lines(_ text: String) -> Set<Substring> { Set(text.split(separator: "\n")) }

    /// Reads and writes in every way, fails, and migrates the tables down and up.
    private static func use(_ url: String) throws {
        let registry = try open(url, lockMilliseconds: 1_000)
        try registry.register(try Fixture.registrations(0..<30))
        #expect(try registry.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        let dead = DeadToken(
            app: "chat", platform: .apns, kind: .alert, token: try Fixture.device(3).token, deadSinceMilliseconds: nil)
        #expect(try registry.prune([dead]) == 1)
        registry.quotas = RegistryQuotas(limits: [.apiTokens: 1])
        func token(_ name: String) -> APIToken {
            APIToken(name: name, digest: [1], app: nil, permission: .write, createdAtMilliseconds: 1)
        }
        try registry.saveToken(token("t"))
        #expect(throws: RegistryError.self) { try registry.saveToken(token("u")) }
        try registry.checkWriting(thoroughly: true)
        let reader = try open(url, mode: .readOnly)
        #expect(try reader.deviceCount() == 29)
        #expect(throws: RegistryError.self) { try reader.upsert([try Fixture.device(40)]) }
        _ = try registry.save([
            RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: "s"), recordType: "Song",
                savedAtMilliseconds: 1)
        ])
        #expect(try registry.subscriptionChanges(after: nil, limit: 1).changes.count == 1)
        let migrator = try PostgresMigrator(url: url, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        for step in try MigrationPlan(down: try migrator.schemaState(), to: 3, migrator.migrations).steps {
            #expect(try migrator.perform(step))
        }
        for step in try MigrationPlan(up: try migrator.schemaState(), to: nil, migrator.migrations).steps {
            #expect(try migrator.perform(step))
        }
    }

    @Test(
        "Another application gets the one session of the pool as it was, whatever we did in it",
        arguments: [PrivatePgBouncer.Mode.transaction, .session])
    func leavesNothing(_ mode: PrivatePgBouncer.Mode) async throws {
        let server = try await PrivatePostgreSQL.shared()
        let pooler = try await PrivatePgBouncer.start(before: server, mode: mode, sessions: mode == .session ? 5 : 1)
        defer { pooler.stop() }
        let database = try await server.makeDatabase()
        try await pooler.run("CREATE TABLE public.orders (number int)", database: database)
        let before = try await pooler.run(Self.state, database: database)
        #expect(before.contains("enable_seqscan|on") && before.contains("search_path|\"$user\", public"))
        try Self.use(pooler.url(database: database))
        let changed = Self.lines(try await pooler.run(Self.state, database: database))
            .symmetricDifference(Self.lines(before))
        #expect(changed.isEmpty, "\(changed)")
        try await pooler.run("INSERT INTO orders VALUES (1)", database: database)
    }

    @Test("What another application has set in the session that we get next does not reach our calls")
    func ignoresOthers() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let pooler = try await PrivatePgBouncer.start(before: server, mode: .transaction, sessions: 1)
        defer { pooler.stop() }
        let database = try await server.makeDatabase()
        let registry = try Self.open(pooler.url(database: database))
        try await pooler.run(
            """
            SET search_path = pg_temp; SET enable_indexscan = off; SET statement_timeout = 5000; SET lock_timeout = 1;
            SET default_transaction_isolation = serializable
            """, database: database)
        try registry.register(try Fixture.registrations(0..<30))
        #expect(try registry.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        #expect(try registry.deviceCount() == 30)
    }

    // MARK: Limits and plans

    @Test("The limits of a call, and the plans of a new registry, are the same behind a pooler")
    func keepsLimits() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = try await Self.pooler(.transaction).url(database: database)
        let patient = try Self.open(url, callMilliseconds: 500)
        let hasty = try Self.open(url, lockMilliseconds: 50)
        let counts = SubscriptionCalls.counts(app: nil, after: nil, limit: 100)
        let plan = try hasty.ask([Call("EXPLAIN (COSTS OFF) " + counts.sql, counts.parameters)])[0].map { $0.text(0) }
        #expect(
            plan.contains { $0.contains("Index Only Scan using subscription_by_type on subscription s") }, "\(plan)")
        let other = try Self.open(server.url(database: database))
        try other.lockDevices()
        for (registry, word) in [(patient, "500 ms"), (hasty, "locked")] {
            let error = #expect(throws: RegistryError.self) { try registry.upsert([try Fixture.device(1)]) }
            #expect(error?.code == .unavailable && error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
        other.disconnect()
        try patient.upsert([try Fixture.device(1)])
        #expect(try hasty.deviceCount() == 1)
    }

    // MARK: Kinds of poolers

    @Test("A pooler that keeps prepared statements is told apart from one that does not, and from none")
    func tellsPoolersApart() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = try await Self.pooler(.transaction).url(database: database)
        let pooled = try Self.open(url)
        let session = try #require(pooled.connection.session)
        let keepsStatements = try await PrivatePgBouncer.keepsStatements()
        #expect(session.isShared && session.keepsStatements == keepsStatements)
        #expect((pooled.poolerAdvice == nil) == keepsStatements)
        let direct = try Self.open(server.url(database: database))
        #expect(direct.connection.session?.isShared == false && direct.connection.session?.keepsStatements == true)
        #expect(direct.poolerAdvice == nil)
    }

    @Test("A pooler that takes transactions apart is refused by name, with what to set")
    func statementMode() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let pooler = try await PrivatePgBouncer.start(before: server, mode: .statement)
        defer { pooler.stop() }
        let url = pooler.url(database: try await server.makeDatabase())
        for mode in [RegistryOpenMode.readOnly, .create] {
            let error = #expect(throws: RegistryError.self) { _ = try Self.open(url, mode: mode) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("pool_mode") == true, "\(error?.message ?? "")")
        }
    }
}
