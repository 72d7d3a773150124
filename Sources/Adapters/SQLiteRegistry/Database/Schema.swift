import CSQLite
import PushCore

/// The tables of a registry file and how an older file is brought up to date.
enum Schema {
    /// Marks our files in SQLite's header: the letters `APUS`.
    static let applicationID: Int64 = 0x4150_5553

    /// The version that this program reads and writes.
    static var currentVersion: Int64 { Int64(migrations.count) }

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// What leads from version `index` to version `index + 1`.
    static let migrations: [String] = [
        versionOne, versionTwo, versionThree, versionFour, deadLetters, deviceTokens, cloudKitDictionaries, quotas,
        courierKey,
    ]

    /// Checks whose file it is and its version, and brings it up to date if the mode allows that.
    ///
    /// - Throws: `RegistryError` with `.newerSchema`, `.readOnly` if an older file may not be changed, `.invalid` if
    ///   the file is another program's.
    static func prepare(_ connection: Connection, mode: RegistryOpenMode) throws(RegistryError) {
        var version = try readVersion(connection)
        if version < currentVersion {
            guard mode != .readOnly else {
                throw RegistryError(
                    .readOnly,
                    "The registry \(connection.path) has the schema version \(version), and this Apus needs "
                        + "\(currentVersion). Open it once with a command that writes, for example 'apus run', so that "
                        + "it is brought up to date.")
            }
            version = try migrate(connection, to: currentVersion)
        }
        guard version == currentVersion else {
            throw RegistryError(
                .newerSchema,
                "The registry \(connection.path) has the schema version \(version), and this Apus knows "
                    + "\(currentVersion) at most: a newer Apus has used it. Run that version, or give this one a file "
                    + "of its own.")
        }
    }

    /// Takes a file to a version, in one transaction that other processes wait for.
    ///
    /// - Returns: the version that the file has afterwards; another process may have been faster, or newer.
    @discardableResult
    static func migrate(_ connection: Connection, to target: Int64) throws(RegistryError) -> Int64 {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(RegistryError) {
            var version = try readVersion(connection)
            while version < target {
                try connection.execute(migrations[Int(version)])
                version += 1
            }
            if version == target {
                try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            }
            try connection.execute("COMMIT")
            return version
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private static func readVersion(_ connection: Connection) throws(RegistryError) -> Int64 {
        let application = try readInteger("PRAGMA application_id", connection)
        let version = try readInteger("PRAGMA user_version", connection)
        let tables = try readInteger("SELECT count(*) FROM sqlite_schema", connection)
        let isNew = application == 0 && version == 0 && tables == 0
        guard isNew || (application == applicationID && version >= 0) else {
            throw RegistryError(
                .invalid,
                "The file \(connection.path) is an SQLite database of another program. Name another file as registry.")
        }
        return version
    }

    private static func readInteger(_ sql: String, _ connection: Connection) throws(RegistryError) -> Int64 {
        try Statement(sql, connection: connection).firstInteger() ?? 0
    }

    // MARK: Small steps

    /// What clients of CloudKit Web Services saved, in their own words.
    ///
    /// It is the last column, so SQLite does not read it for a query without it.
    static let cloudKitDictionaries = "ALTER TABLE subscription ADD COLUMN cloudkit_json TEXT;"

    /// The key by which the servers recognise what they handed out: one row, from when it is first asked for.
    static let courierKey = """
        CREATE TABLE courier_key (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes BLOB NOT NULL CHECK (length(bytes) = 32)
        );
        """
}
