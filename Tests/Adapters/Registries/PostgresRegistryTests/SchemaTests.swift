import PostgreSQL
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import PostgresRegistry

/// The schema of a registry in PostgreSQL, and its migrations.
struct SchemaTests {
    private let server: PrivatePostgreSQL
    private let database: String
    private let url: String

    init() async throws {
        server = try await PrivatePostgreSQL.shared()
        database = try await server.makeDatabase()
        url = server.url(database: database)
    }

    @Test("The PostgreSQL registry keeps what is required of migrations", arguments: SchemaConformance.all)
    func conforms(_ conformance: SchemaConformance) async throws {
        let url = url
        try await conformance.check(
            SchemaConformance.Store(
                released: PostgresRegistry.migrations,
                open: { mode, migrations in
                    try PostgresRegistry.open(
                        url: url, mode: mode, callMilliseconds: 120_000, connectMilliseconds: 60_000,
                        migrations: migrations)
                },
                migrator: { migrations in try Self.migrator(url, migrations, lockMilliseconds: 60_000) },
                execute: { sql in try Self.connection(url).execute(sql, Deadline(milliseconds: 60_000)) },
                columns: { try Self.columns(url) }))
    }

    private static func migrator(
        _ url: String, _ migrations: SchemaMigrations, lockMilliseconds: Int
    ) throws -> PostgresMigrator {
        try PostgresMigrator(
            url: url, migrations: migrations, callMilliseconds: 120_000, connectMilliseconds: 60_000,
            lockMilliseconds: lockMilliseconds)
    }

    /// A connection past the adapter, with the registry's schema in its search path.
    private static func connection(_ url: String) throws -> Connection {
        let connection = Connection(
            address: try ServerAddress(ofRegistry: url), callMilliseconds: 60_000, connectMilliseconds: 60_000
        ) { (connection) throws(RegistryError) in
            try connection.execute("SET search_path = apus", Deadline(milliseconds: 60_000))
        }
        try connection.ensureOpen()
        return connection
    }

    private static func columns(_ url: String) throws -> [String] {
        let call = Call(
            """
            SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
            FROM information_schema.columns WHERE table_schema = 'apus' AND table_name <> 'schema_migration' ORDER BY 1
            """)
        return try connection(url).run([call], Deadline(milliseconds: 60_000))[0].map { $0.text(0) }
    }

    /// The released migrations, and one that changes a table that workers use.
    private var altering: SchemaMigrations {
        let released = PostgresRegistry.migrations
        let migration = SchemaMigration(
            version: released.newest + 1, summary: "Adds a column to devices", impact: "Locks devices.",
            minimumProgramSchema: released.all[released.all.count - 1].minimumProgramSchema,
            up: "ALTER TABLE device ADD COLUMN note text; CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY)",
            down: "ALTER TABLE device DROP COLUMN note; DROP TABLE note")
        return SchemaMigrations(released.all + [migration])
    }

    private func open() throws -> PostgresRegistry {
        try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
    }

    @Test("A migration that does not get the lock of a table gives up, so that no worker queues behind it")
    func lockedTable() throws {
        let registry = try open()
        let other = try Self.connection(url)
        try other.execute("BEGIN; SELECT * FROM device", Deadline(milliseconds: 60_000))
        let migrator = try Self.migrator(url, altering, lockMilliseconds: 50)
        let plan = try MigrationPlan(up: try migrator.schemaState(), to: nil, altering)
        let error = #expect(throws: RegistryError.self) { try migrator.perform(plan.steps[0]) }
        #expect(error?.code == .unavailable && error?.message.contains("locked") == true, "\(error?.message ?? "")")
        #expect(try migrator.schemaState().version == PostgresRegistry.migrations.newest)
        try registry.upsert([try Fixture.device(1)])
        try other.execute("COMMIT", Deadline(milliseconds: 60_000))
        #expect(try migrator.perform(plan.steps[0]))
        try registry.upsert([try Fixture.device(2)])
        #expect(try registry.deviceCount() == 2)
    }

    @Test("New tables get the rights that other users have to devices, and no other table gets any")
    func rights() async throws {
        _ = try open()
        let user = "worker_\(database)"
        try await server.run(
            """
            CREATE USER \(user); GRANT USAGE ON SCHEMA apus TO \(user); GRANT SELECT, INSERT ON apus.device TO \(user);
            GRANT USAGE ON SEQUENCE apus.device_id_seq TO \(user)
            """, database: database)
        let migrator = try Self.migrator(url, altering, lockMilliseconds: 60_000)
        let plan = try MigrationPlan(up: try migrator.schemaState(), to: nil, altering)
        #expect(try migrator.perform(plan.steps[0]))
        let granted = try await server.run(
            """
            SELECT concat_ws(' ', has_table_privilege('\(user)', 'apus.note', 'SELECT'),
                has_table_privilege('\(user)', 'apus.note', 'INSERT'),
                has_table_privilege('\(user)', 'apus.note', 'DELETE'),
                has_sequence_privilege('\(user)', 'apus.note_id_seq', 'USAGE'),
                has_table_privilege('\(user)', 'apus.api_token', 'SELECT'),
                has_table_privilege('\(user)', 'apus.schema_migration', 'SELECT'))
            """, database: database)
        #expect(granted == "t t f t f t")
    }

    @Test("Who may read the view of devices still may after the migration that replaces it")
    func rightsOfView() async throws {
        _ = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000,
            migrations: SchemaMigrations(Array(PostgresRegistry.migrations.all.prefix(2))))
        let user = "reader_\(database)"
        try await server.run(
            "CREATE USER \(user); GRANT SELECT ON apus.registered_device TO \(user)", database: database)
        let migrator = try Self.migrator(url, PostgresRegistry.migrations, lockMilliseconds: 60_000)
        for step in try MigrationPlan(up: try migrator.schemaState(), to: nil, migrator.migrations).steps {
            #expect(try migrator.perform(step))
        }
        let granted = try await server.run(
            "SELECT has_table_privilege('\(user)', 'apus.registered_device', 'SELECT')", database: database)
        #expect(granted == "t")
    }

    @Test("A registry says whether opening made it")
    func isNew() throws {
        #expect(try open().isNew)
        #expect(try !open().isNew)
    }
}
