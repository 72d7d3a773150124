import PushCore

/// The tables of a registry, in a schema of their own, and how a database gets them.
enum Schema {
    /// The PostgreSQL schema that holds everything of a registry.
    static let name = "apus"

    /// The version that this program reads and writes.
    static let version: Int64 = 1

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// The SQLSTATE of what would exceed a quota; the message is the quota's name and its limit.
    static let quotaState = "AP001"

    /// The advisory lock of the process that makes the tables: the letters `APUS`, then `REGI`.
    private static let lock: Int64 = 0x4150_5553_5245_4749

    /// The advisory lock of the transaction that writes `subscription_log`: the letters `APUS`, then `SLOG`.
    static let logLock: Int64 = 0x4150_5553_534C_4F47

    /// The first half of the advisory locks on users, whose second half is a number of the user's name: `APUS`.
    static let userLocks: Int64 = 0x4150_5553

    /// The bytes of a row of `subscription` that count against quotas, as in `RecordSubscription.storedBytes`.
    static func subscriptionBytes(_ row: String) -> String {
        "octet_length(\(row).predicate) + octet_length(\(row).notification) "
            + "+ coalesce(octet_length(\(row).cloudkit_json), 0)"
    }

    /// Checks the version, and makes a registry where there is none if the mode allows that.
    ///
    /// - Parameters:
    ///   - connection: a connection that was just made.
    ///   - mode: the access; `readWrite` creates a registry in a database that has none, as `create` does.
    ///   - milliseconds: how long making it may take, including the wait for another that makes it.
    /// - Throws: `RegistryError` with `.newerSchema`, `.notFound` if one that must exist does not, `.readOnly` if none
    ///   may be made, `.invalid` if the schema is another program's.
    static func prepare(
        _ connection: Connection, mode: RegistryOpenMode, milliseconds: Int
    ) throws(RegistryError) {
        if try hasTables(connection, Deadline(milliseconds: connection.callMilliseconds)) { return }
        let address = connection.address.description
        switch mode {
        case .existing:
            throw RegistryError(
                .notFound,
                "There is no registry in \(address). Name the database that the workers use in registry.url; 'apus "
                    + "run' makes a registry where there is none.")
        case .readOnly:
            throw RegistryError(
                .readOnly,
                "There is no registry in \(address). Open it once with a command that writes, for example 'apus run', "
                    + "which makes one.")
        case .readWrite, .create:
            try makeTables(connection, Deadline(milliseconds: milliseconds))
        }
    }

    /// Makes the tables in one transaction, which others wait for, unless another process was faster.
    private static func makeTables(_ connection: Connection, _ deadline: Deadline) throws(RegistryError) {
        do throws(RegistryError) {
            try connection.execute(
                """
                BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
                SELECT pg_advisory_xact_lock(\(lock))
                """, deadline)
            if try !hasTables(connection, deadline) {
                if try !isPresent(connection, deadline).schema {
                    try connection.execute("CREATE SCHEMA \(name)", deadline)
                }
                try connection.execute(tables, deadline)
            }
            try connection.execute("COMMIT", deadline)
        } catch {
            // Begun statements end with the connection.
            connection.close()
            throw error
        }
    }

    /// Whether there is a registry of this version; false if there is none.
    private static func hasTables(_ connection: Connection, _ deadline: Deadline) throws(RegistryError) -> Bool {
        let address = connection.address.description
        let (_, table, isForeign) = try isPresent(connection, deadline)
        guard !isForeign else {
            throw RegistryError(
                .invalid,
                "The schema \(name) of \(address) belongs to another program. Name another database in registry.url.")
        }
        guard table else { return false }
        let rows = try connection.run([Call("SELECT version::bigint FROM \(name).schema_version")], deadline)[0]
        let found = rows.count == 1 ? rows.integer(0, 0) : 0
        guard found > 0 else {
            throw RegistryError(
                .invalid,
                "The registry \(address) says that its schema has the version \(found), which there is not. Somebody "
                    + "has edited \(name).schema_version; write the number that was there.")
        }
        guard found == version else {
            throw RegistryError(
                .newerSchema,
                "The registry \(address) has the schema version \(found), and this Apus knows only \(version): another "
                    + "Apus has made it. Run that one, or give this one a database of its own.")
        }
        return true
    }

    private static func isPresent(
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
