import CSQLite
import PushCore

/// The tables of a registry file, and how a file gets them.
enum Schema {
    /// Marks our files in SQLite's header: the letters `APUS`.
    private static let applicationID: Int64 = 0x4150_5553

    /// The version that this program reads and writes.
    static let version: Int64 = 1

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// The number of the newest fan-out, for statements that write who joins an audience; 0 if there was none.
    static let newestFanOut = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'fan_out')"

    /// The bytes of a row of `subscription` that count against quotas, as in `RecordSubscription.storedBytes`.
    static func subscriptionBytes(_ row: String) -> String {
        "length(\(row).predicate) + length(CAST(\(row).notification AS BLOB)) "
            + "+ coalesce(length(CAST(\(row).cloudkit_json AS BLOB)), 0)"
    }

    /// Checks the application and version of a file, and makes an empty file a registry if the mode allows that.
    ///
    /// - Throws: `RegistryError` with `.newerSchema`, `.readOnly` if an empty file may not be changed, `.invalid` if
    ///   the file is another program's.
    static func prepare(_ connection: Connection, mode: RegistryOpenMode) throws(RegistryError) {
        if try inTransaction("BEGIN", connection, { () throws(RegistryError) in try hasTables(connection) }) { return }
        guard mode != .readOnly else {
            throw RegistryError(
                .readOnly,
                "The file \(connection.path) is empty. Open it once with a command that writes, for example "
                    + "'apus run', which makes a registry of it.")
        }
        try makeTables(connection)
    }

    /// Makes the tables in one transaction, which other processes wait for, unless another process was faster.
    private static func makeTables(_ connection: Connection) throws(RegistryError) {
        try inTransaction("BEGIN IMMEDIATE", connection) { () throws(RegistryError) in
            guard try !hasTables(connection) else { return }
            try connection.execute(tables)
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    private static func inTransaction<Value>(
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

    /// Whether the file is a registry of this version; false if it is empty.
    ///
    /// The caller has begun a transaction, so that the reads see one state while another process makes the tables.
    private static func hasTables(_ connection: Connection) throws(RegistryError) -> Bool {
        let application = try readInteger("PRAGMA application_id", connection)
        let found = try readInteger("PRAGMA user_version", connection)
        let tables = try readInteger("SELECT count(*) FROM sqlite_schema", connection)
        if application == 0, found == 0, tables == 0 { return false }
        guard application == applicationID else {
            throw RegistryError(
                .invalid,
                "The file \(connection.path) is an SQLite database of another program. Name another file as registry.")
        }
        guard found == version else {
            throw RegistryError(
                .newerSchema,
                "The registry \(connection.path) has the schema version \(found), and this Apus knows only \(version): "
                    + "another Apus has made it. Run that one, or give this one a file of its own.")
        }
        return true
    }

    private static func readInteger(_ sql: String, _ connection: Connection) throws(RegistryError) -> Int64 {
        try Statement(sql, connection: connection).firstInteger() ?? 0
    }
}
