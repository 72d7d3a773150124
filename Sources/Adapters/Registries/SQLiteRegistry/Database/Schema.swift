import CSQLite
import RegistryCore
import RegistrySQL

/// The tables of a registry file, and how a file gets them.
enum Schema {
    /// Marks our files in SQLite's header: the letters `APUS`.
    static let applicationID: Int64 = 0x4150_5553

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// The bytes of a row of `subscription` that count against quotas, as in `RecordSubscription.storedBytes`.
    static func subscriptionBytes(_ row: String) -> String {
        "length(\(row).predicate) + length(CAST(\(row).notification AS BLOB)) "
            + "+ coalesce(length(CAST(\(row).cloudkit_json AS BLOB)), 0)"
    }

    /// Checks the application and schema of a file, and makes an empty file a registry if the mode allows that.
    ///
    /// - Returns: whether it made a registry.
    /// - Throws: `RegistryError` with `.newerSchema`, `.olderSchema`, `.readOnly` if an empty file may not be changed,
    ///   `.invalid` if the file is another program's.
    static func prepare(
        _ connection: Connection, mode: RegistryOpenMode, _ migrations: SchemaMigrations
    ) throws(RegistryError) -> Bool {
        let found = try inTransaction("BEGIN", connection) { () throws(RegistryError) in try state(connection) }
        if let found {
            try migrations.requireUsable(found, registry: connection.path)
            return false
        }
        guard mode != .readOnly else {
            throw RegistryError(
                .readOnly,
                "The file \(connection.path) is empty. Open it once with a command that writes, for example "
                    + "'apus run', which makes a registry of it.")
        }
        return try makeTables(connection, migrations)
    }

    /// Makes the tables in one transaction, which other processes wait for; false if another process was faster.
    private static func makeTables(
        _ connection: Connection, _ migrations: SchemaMigrations
    ) throws(RegistryError) -> Bool {
        try inTransaction("BEGIN IMMEDIATE", connection) { () throws(RegistryError) in
            if let found = try state(connection) {
                try migrations.requireUsable(found, registry: connection.path)
                return false
            }
            try connection.execute("PRAGMA application_id = \(applicationID)")
            for step in migrations.stepsOfNewRegistry { try perform(step, connection) }
            return true
        }
    }

    /// Runs `body` in a transaction, which is rolled back if it fails.
    static func inTransaction<Value>(
        _ begin: String, _ connection: Connection, _ body: () throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try connection.execute(begin)
        do throws(RegistryError) {
            let value = try body()
            try connection.execute("COMMIT")
            return value
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}
