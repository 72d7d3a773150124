import PostgreSQL
import RegistryCore
import RegistrySQL

/// The tables of a registry, in a schema of their own, and how a database gets them.
enum Schema {
    /// The PostgreSQL schema that holds everything of a registry.
    static let name = "apus"

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// The SQLSTATE of what would exceed a quota; the message is the quota's name and its limit.
    static let quotaState = "AP001"

    /// The advisory lock of the process that makes or migrates the tables: the letters `APUS`, then `REGI`.
    private static let lock: Int64 = 0x4150_5553_5245_4749

    /// The advisory lock of the transaction that writes `subscription_log`: the letters `APUS`, then `SLOG`.
    static let logLock: Int64 = 0x4150_5553_534C_4F47

    /// The bytes of a row of `subscription` that count against quotas, as in `RecordSubscription.storedBytes`.
    static func subscriptionBytes(_ row: String) -> String {
        "octet_length(\(row).predicate) + octet_length(\(row).notification) "
            + "+ coalesce(octet_length(\(row).cloudkit_json), 0)"
    }

    /// Checks the schema, and makes a registry where there is none if the mode allows that.
    ///
    /// - Parameters:
    ///   - connection: a connection that was just made.
    ///   - mode: the access; `readWrite` creates a registry in a database that has none, as `create` does.
    ///   - migrations: the migrations that are known.
    ///   - milliseconds: how long making it may take, including the wait for another that makes it.
    /// - Returns: whether it made a registry.
    /// - Throws: `RegistryError` with `.newerSchema`, `.olderSchema`, `.notFound` if one that must exist does not,
    ///   `.readOnly` if none may be made, `.invalid` if the schema is another program's.
    static func prepare(
        _ connection: Connection, mode: RegistryOpenMode, _ migrations: SchemaMigrations, milliseconds: Int
    ) throws(RegistryError) -> Bool {
        let address = connection.address.description
        if let found = try state(connection, Deadline(milliseconds: connection.callMilliseconds)) {
            try migrations.requireUsable(found, registry: address)
            return false
        }
        switch mode {
        case .existing: throw missing(address)
        case .readOnly:
            throw RegistryError(
                .readOnly,
                "There is no registry in \(address). Open it once with a command that writes, for example 'apus run', "
                    + "which makes one.")
        case .readWrite, .create:
            return try makeTables(connection, migrations, Deadline(milliseconds: milliseconds))
        }
    }

    /// The error about a database without a registry.
    static func missing(_ address: String) -> RegistryError {
        RegistryError(
            .notFound,
            "There is no registry in \(address). Name the database that the workers use in registry.url; 'apus run' "
                + "makes a registry where there is none.")
    }

    /// Makes the tables in one transaction, which others wait for; false if another process was faster.
    private static func makeTables(
        _ connection: Connection, _ migrations: SchemaMigrations, _ deadline: Deadline
    ) throws(RegistryError) -> Bool {
        try inTransaction(connection, deadline) { () throws(RegistryError) in
            if let found = try state(connection, deadline) {
                try migrations.requireUsable(found, registry: connection.address.description)
                return false
            }
            if try !isPresent(connection, deadline).schema {
                try connection.execute("CREATE SCHEMA \(name)", deadline)
            }
            for step in migrations.stepsOfNewRegistry { try perform(step, connection, deadline) }
            return true
        }
    }

    /// Runs `body` in a transaction that all who make or migrate tables take in turns.
    static func inTransaction<Value>(
        _ connection: Connection, _ deadline: Deadline, _ body: () throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        do throws(RegistryError) {
            try connection.execute(
                """
                BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
                SET LOCAL idle_in_transaction_session_timeout = 0;
                SELECT pg_advisory_xact_lock(\(lock))
                """, deadline)
            let value = try body()
            try connection.execute("COMMIT", deadline)
            return value
        } catch {
            // Begun statements end with the connection.
            connection.close()
            throw error
        }
    }
}
