public import RegistryCore
import RegistrySQL

/// The requirements for migrations of every store, as checks that any test target can run.
public struct SchemaConformance: Sendable, CustomStringConvertible {
    /// A registry that does not exist yet, and how to come to it.
    public struct Store: Sendable {
        /// The ports that the checks need.
        public typealias Opened = CampaignRegistry & EventMemoryRegistry & Registry & SchemaRegistry
            & SubscriptionRegistry

        /// The migrations of the adapter.
        public let released: SchemaMigrations
        /// Opens the registry as a program that knows some migrations.
        public let open: @Sendable (RegistryOpenMode, SchemaMigrations) throws -> any Opened
        /// Opens the registry to migrate it.
        public let migrator: @Sendable (SchemaMigrations) throws -> any RegistryMigrator
        /// Runs a statement past the adapter.
        public let execute: @Sendable (String) throws -> Void
        /// The columns of every table and view but `schema_migration`, with their types, in an order.
        public let columns: @Sendable () throws -> [String]

        /// Creates a store.
        public init(
            released: SchemaMigrations,
            open: @escaping @Sendable (RegistryOpenMode, SchemaMigrations) throws -> any Opened,
            migrator: @escaping @Sendable (SchemaMigrations) throws -> any RegistryMigrator,
            execute: @escaping @Sendable (String) throws -> Void,
            columns: @escaping @Sendable () throws -> [String]
        ) {
            self.released = released
            self.open = open
            self.migrator = migrator
            self.execute = execute
            self.columns = columns
        }
    }

    /// The required behaviour, as a sentence.
    public let name: String
    /// Throws if the store does not do it.
    public let check: @Sendable (Store) async throws -> Void

    /// The sentence, so that a parameterised test shows it.
    public var description: String { name }

    init(_ name: String, _ check: @escaping @Sendable (Store) async throws -> Void) {
        self.name = name
        self.check = check
    }

    /// All checks.
    public static let all: [SchemaConformance] =
        versionChecks + migrationChecks + rangeChecks + addressChecks + campaignChecks
        + eventMemoryChecks + concurrencyChecks
}

// MARK: - Programs of the tests

extension SchemaConformance.Store {
    /// The first program: it knows one migration, and wrote nothing down about it.
    func makeFirstRegistry() throws {
        _ = try open(.create, first)
        try execute("DROP TABLE schema_migration")
    }

    /// The migrations that the first program knows.
    var first: SchemaMigrations { SchemaMigrations([released.all[0]]) }

    /// The released migrations, then those of releases to come: a table, a column of it, and the end of the table.
    ///
    /// The first two only add, so programs of today may go on; the third is for programs that know the second.
    var extended: SchemaMigrations {
        let newest = released.newest
        return adding(
            [
                step(newest + 1, minimum, "CREATE TABLE note (id INTEGER NOT NULL)", "DROP TABLE note"),
                step(
                    newest + 2, minimum, "ALTER TABLE note ADD COLUMN text TEXT; INSERT INTO note (id) VALUES (1)",
                    "ALTER TABLE note DROP COLUMN text; DELETE FROM note"),
                step(newest + 3, newest + 2, "DROP TABLE note", "CREATE TABLE note (id INTEGER NOT NULL, text TEXT)"),
            ])
    }

    /// The oldest schema that a program must know after the released migrations.
    var minimum: Int64 { released.all.last?.minimumProgramSchema ?? 1 }

    func adding(_ migrations: [SchemaMigration]) -> SchemaMigrations { SchemaMigrations(released.all + migrations) }

    func step(_ version: Int64, _ minimum: Int64, _ up: String, _ down: String?) -> SchemaMigration {
        SchemaMigration(
            version: version, summary: "It's \(version) of a test", impact: "None.", minimumProgramSchema: minimum,
            up: up, down: down)
    }

    /// Migrates as the command does, and returns how many steps this migrator has done.
    @discardableResult
    func migrate(up target: Int64?, _ migrations: SchemaMigrations) throws -> Int {
        let migrator = try migrator(migrations)
        return try run(try MigrationPlan(up: try migrator.schemaState(), to: target, migrations), migrator)
    }

    @discardableResult
    func migrate(down target: Int64?, _ migrations: SchemaMigrations) throws -> Int {
        let migrator = try migrator(migrations)
        return try run(try MigrationPlan(down: try migrator.schemaState(), to: target, migrations), migrator)
    }

    private func run(_ plan: MigrationPlan, _ migrator: any RegistryMigrator) throws -> Int {
        try plan.steps.reduce(0) { count, step in try migrator.perform(step) ? count + 1 : count }
    }

    func state() throws -> SchemaState { try migrator(released).schemaState() }

    func expectState(_ version: Int64, minimum: Int64) throws {
        try RegistryConformance.expect(
            try state(), is: SchemaState(version: version, minimumProgramSchema: minimum), "the schema")
    }

    func expectRefusal(_ code: RegistryError.Code, mentioning word: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as RegistryError {
            guard error.code == code, error.message.contains(word) else {
                throw RegistryViolation("expected \(code) with \"\(word)\", got \(error.code): \(error)")
            }
            return
        }
        throw RegistryViolation("not refused, expected \(code)")
    }
}
