import RegistryCore
import RegistrySQL

extension Schema {
    /// The migrations of a registry file, oldest first; a released one never changes.
    ///
    /// A new file gets all of them. Add one at the end, here and in the other store, with the next number. If it only
    /// adds tables, indexes or columns with defaults, it keeps the minimum of the migration before, so that the
    /// previous release can run beside this one. Every other change belongs to the release after.
    static let migrations = SchemaMigrations([
        SchemaMigration(
            version: 1, summary: "The registry itself", impact: "Makes a new registry.", minimumProgramSchema: 1,
            up: tables, down: nil),
        SchemaMigration(
            version: 2, summary: "Reports of processes, the audit log and pauses, for operators",
            impact: "Adds three empty tables, at once.", minimumProgramSchema: 1, up: operations,
            down: "DROP TABLE pause; DROP TABLE audit_entry; DROP TABLE worker_report;"),
        SchemaMigration(
            version: 3, summary: "Addresses of ADM and Web Push, installation IDs, and long tokens",
            impact: "Adds an empty table and replaces a view, at once.", minimumProgramSchema: 1, up: addresses,
            down: addressesUndone),
        SchemaMigration(
            version: 4, summary: "Counts of campaigns and of opened pushes",
            impact: "Adds four empty tables, at once.", minimumProgramSchema: 1, up: campaigns,
            down: campaignsUndone),
        SchemaMigration(
            version: 5, summary: "The memory of events that are pushed once", impact: "Adds an empty table, at once.",
            minimumProgramSchema: 1, up: eventMemory, down: eventMemoryUndone),
        SchemaMigration(
            version: 6, summary: "What became of events, for a while", impact: "Adds two empty tables, at once.",
            minimumProgramSchema: 1, up: eventHistory, down: eventHistoryUndone),
    ])

    /// The migrations that were done, from the first that found a registry.
    ///
    /// `user_version` in the header of the file is the oldest schema that a program must know, so that a program reads
    /// it without knowing any table. A file without this table, or without a row in it, has exactly that
    /// version.
    private static let record = """
        CREATE TABLE IF NOT EXISTS schema_migration (
            version INTEGER PRIMARY KEY, summary TEXT NOT NULL, done_at INTEGER NOT NULL);
        """

    /// Reads the schema of a file; nil if the file is empty.
    ///
    /// The caller has begun a transaction, so that the reads see one state while another process makes the tables.
    ///
    /// - Throws: `RegistryError` with `.invalid` if the file is another program's, or says a version that there is not.
    static func state(_ connection: Connection) throws(RegistryError) -> SchemaState? {
        let application = try readInteger("PRAGMA application_id", connection)
        let minimum = try readInteger("PRAGMA user_version", connection)
        let tables = try readInteger("SELECT count(*) FROM sqlite_schema", connection)
        if application == 0, minimum == 0, tables == 0 { return nil }
        guard application == applicationID else {
            throw RegistryError(
                .invalid,
                "The file \(connection.path) is an SQLite database of another program. Name another file as registry.")
        }
        let isRecorded =
            try readInteger("SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migration'", connection) > 0
        let version =
            isRecorded
            ? try readInteger("SELECT coalesce(max(version), \(minimum)) FROM schema_migration", connection) : minimum
        guard minimum > 0, version >= minimum else {
            throw RegistryError(
                .invalid,
                "The registry \(connection.path) says that it has the schema version \(version), for programs from "
                    + "the schema \(minimum) on, which there is not. Somebody has edited PRAGMA user_version or "
                    + "schema_migration; write the numbers that were there.")
        }
        return SchemaState(version: version, minimumProgramSchema: minimum)
    }

    /// Runs the statements of a step and writes down what was done; the caller has begun a transaction to write.
    static func perform(_ step: MigrationStep, _ connection: Connection) throws(RegistryError) {
        try connection.execute(step.statements)
        try connection.execute(record)
        let version = step.migration.version
        switch step.direction {
        case .up:
            let statement = try Statement(
                "INSERT OR REPLACE INTO schema_migration VALUES (?, ?, unixepoch() * 1000)", connection: connection)
            statement.bind(1, version)
            statement.bind(2, step.migration.summary)
            try statement.run()
        case .down: try connection.execute("DELETE FROM schema_migration WHERE version >= \(version)")
        }
        try connection.execute("PRAGMA user_version = \(step.stateAfter.minimumProgramSchema)")
    }

    private static func readInteger(_ sql: String, _ connection: Connection) throws(RegistryError) -> Int64 {
        try Statement(sql, connection: connection).firstInteger() ?? 0
    }
}
