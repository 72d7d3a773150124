import PostgreSQL
import RegistryCore
import RegistrySQL

extension Schema {
    /// The migrations of a registry, oldest first; a released one never changes.
    ///
    /// A new registry gets all of them. Add one at the end, here and in the other store, with the next number. If it
    /// only adds tables, indexes or columns with defaults, it keeps the minimum of the migration before, so that the
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
            impact: "Adds an empty table and replaces a view, at once; who writes devices waits meanwhile.",
            minimumProgramSchema: 1, up: addresses, down: addressesUndone),
        SchemaMigration(
            version: 4, summary: "Counts of campaigns and of opened pushes",
            impact: "Adds four empty tables, at once; who writes devices waits meanwhile.", minimumProgramSchema: 1,
            up: campaigns,
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
    /// `schema_version`, which the first migration makes, has the oldest schema that a program must know. A registry
    /// without this table, or without a row in it, has exactly that version. Everybody may read it, because every
    /// program does at its start.
    private static let record = """
        CREATE TABLE IF NOT EXISTS schema_migration (
            version bigint PRIMARY KEY, summary text NOT NULL, done_at bigint NOT NULL);
        GRANT SELECT ON schema_migration TO PUBLIC;
        """

    /// The tables that there are: their numbers with commas between.
    ///
    /// The server could remember them in a variable, but a session that others use, too, would keep its name.
    private static let presentTables = """
        SELECT coalesce(string_agg(oid::text, ','), '') FROM pg_class WHERE relnamespace = '\(name)'::regnamespace
        """

    /// Gives the tables and sequences that a migration made the rights that others have to `device` and its sequence.
    ///
    /// Workers may have another user than the migration; without the rights they could not use what was made for them.
    ///
    /// - Parameter before: the tables that there were before.
    /// - Returns: the statement.
    private static func rights(before: String) -> String {
        """
        DO $$
        DECLARE
            given record;
        BEGIN
            FOR given IN
                SELECT made.relname, made.relkind, acl.grantee, acl.privilege_type
                FROM pg_class made, pg_class pattern, aclexplode(pattern.relacl) acl
                WHERE made.relnamespace = '\(name)'::regnamespace AND made.relacl IS NULL
                    AND made.oid <> ALL (string_to_array('\(before)', ',')::oid[])
                    AND pattern.oid = CASE made.relkind WHEN 'S' THEN '\(name).device_id_seq'::regclass
                        ELSE '\(name).device'::regclass END
                    AND made.relkind IN ('r', 'S') AND acl.grantee <> made.relowner
                    AND acl.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE')
            LOOP
                EXECUTE format('GRANT %s ON %s %I.%I TO %s', given.privilege_type,
                    CASE given.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, '\(name)', given.relname,
                    CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
            END LOOP;
        END $$;
        """
    }

    /// Reads the schema of a registry; nil if there is none.
    ///
    /// - Throws: `RegistryError` with `.invalid` if the tables are another program's, or say a version that there is
    ///   not.
    static func state(_ connection: Connection, _ deadline: Deadline) throws(RegistryError) -> SchemaState? {
        let address = connection.address.description
        let (_, table, isForeign) = try isPresent(connection, deadline)
        guard !isForeign else {
            throw RegistryError(
                .invalid,
                "The schema \(name) of \(address) belongs to another program. Name another database in registry.url.")
        }
        guard table else { return nil }
        let recorded = try connection.run(
            [Call("SELECT (to_regclass('\(name).schema_migration') IS NOT NULL)::int")], deadline)[0]
        let newest =
            recorded.integer(0, 0) == 1
            ? "coalesce((SELECT max(version) FROM \(name).schema_migration), version)::bigint" : "version::bigint"
        let call = Call("SELECT version::bigint, \(newest) FROM \(name).schema_version")
        let rows = try connection.run([call], deadline)[0]
        let minimum = rows.count == 1 ? rows.integer(0, 0) : 0
        let version = rows.count == 1 ? rows.integer(0, 1) : 0
        guard minimum > 0, version >= minimum else {
            throw RegistryError(
                .invalid,
                "The registry \(address) says that it has the schema version \(version), for programs from the schema "
                    + "\(minimum) on, which there is not. Somebody has edited \(name).schema_version or "
                    + "\(name).schema_migration; write the numbers that were there.")
        }
        return SchemaState(version: version, minimumProgramSchema: minimum)
    }

    /// Runs the statements of a step and writes down what was done; the caller has begun a transaction.
    static func perform(
        _ step: MigrationStep, _ connection: Connection, _ deadline: Deadline
    ) throws(RegistryError) {
        let version = step.migration.version
        let summary = step.migration.summary.replacing("'", with: "''")
        let written =
            switch step.direction {
            case .up:
                """
                INSERT INTO schema_migration VALUES (
                    \(version), '\(summary)', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                """
            case .down: "DELETE FROM schema_migration WHERE version >= \(version)"
            }
        let tables = try connection.run([Call(presentTables)], deadline)[0].text(0, 0)
        try connection.execute(
            """
            SET LOCAL search_path = \(name);
            \(step.statements);
            \(record)
            \(written);
            UPDATE schema_version SET version = \(step.stateAfter.minimumProgramSchema);
            \(rights(before: tables))
            """, deadline)
    }

    static func isPresent(
        _ connection: Connection, _ deadline: Deadline
    ) throws(RegistryError) -> (schema: Bool, table: Bool, isForeign: Bool) {
        let call = Call(
            """
            SELECT (to_regnamespace('\(name)') IS NOT NULL)::int,
                (to_regclass('\(name).schema_version') IS NOT NULL)::int,
                EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = to_regnamespace('\(name)'))::int
            """)
        let rows = try connection.run([call], deadline)[0]
        let table = rows.integer(0, 1) == 1
        return (rows.integer(0, 0) == 1, table, !table && rows.integer(0, 2) == 1)
    }
}
