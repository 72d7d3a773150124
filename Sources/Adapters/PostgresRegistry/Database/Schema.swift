import PushCore

/// The tables of a registry, in a schema of their own, and how an older one is brought up to date.
enum Schema {
    /// The PostgreSQL schema that holds everything of a registry.
    static let name = "apus"

    /// The version that this program reads and writes.
    static var currentVersion: Int64 { Int64(migrations.count) }

    /// The number of the name `*` in `dataset_name`.
    ///
    /// A subscription to it stands for the datasets that an identity gets later. No dataset can have this name.
    static let futureDatasets: Int64 = 0

    /// What leads from version `index` to version `index + 1`.
    static let migrations: [String] = [
        versionOne, versionTwo, versionThree, deadLetters, deviceTokens, cloudKitDictionaries, quotas,
        courierKey,
    ]

    /// Whoever changes the schema holds this advisory lock: the letters `APUS`, then `REGI`.
    private static let lock: Int64 = 0x4150_5553_5245_4749

    /// Whoever writes into `subscription_log` holds this advisory lock: the letters `APUS`, then `SLOG`.
    static let logLock: Int64 = 0x4150_5553_534C_4F47

    /// The first half of the advisory locks on users, whose second half is a number of the user's name: `APUS`.
    static let userLocks: Int64 = 0x4150_5553

    /// Checks the version, and brings the registry up to date if the mode allows that.
    ///
    /// - Parameters:
    ///   - connection: a connection that was just made.
    ///   - mode: what may be done; `readWrite` makes a registry in a database that has none, as `create` does.
    ///   - milliseconds: how long an upgrade may take, another's included that has to be waited for.
    /// - Throws: `RegistryError` with `.newerSchema`, `.notFound` if one that must exist does not, `.readOnly` if an
    ///   older registry may not be changed, `.invalid` if the schema is another program's.
    static func prepare(
        _ connection: Connection, mode: RegistryOpenMode, milliseconds: Int
    ) throws(RegistryError) {
        let place = connection.address.description
        let deadline = Deadline(milliseconds: connection.callMilliseconds)
        var version = try readVersion(connection, deadline)
        if version == 0, mode == .existing {
            throw RegistryError(
                .notFound,
                "There is no registry in \(place). Name the database that the workers use in registry.url; 'apus run' "
                    + "makes a registry where there is none.")
        }
        if version < currentVersion {
            guard mode != .readOnly else {
                throw RegistryError(
                    .readOnly,
                    "The registry \(place) has the schema version \(version), and this Apus needs \(currentVersion). "
                        + "Open it once with a command that writes, for example 'apus run', so that it is brought up "
                        + "to date.")
            }
            version = try migrate(connection, to: currentVersion, milliseconds: milliseconds)
        }
        guard version == currentVersion else {
            throw RegistryError(
                .newerSchema,
                "The registry \(place) has the schema version \(version), and this Apus knows \(currentVersion) at "
                    + "most: a newer Apus has used it. Run that version, or give this one a database of its own.")
        }
    }

    /// Takes a registry to a version, in one transaction that others wait for.
    ///
    /// - Returns: the version that it has afterwards; another process may have been faster, or newer.
    @discardableResult
    static func migrate(
        _ connection: Connection, to target: Int64, milliseconds: Int
    ) throws(RegistryError) -> Int64 {
        let deadline = Deadline(milliseconds: milliseconds)
        do throws(RegistryError) {
            try connection.execute(
                """
                BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
                SELECT pg_advisory_xact_lock(\(lock))
                """, deadline)
            var version = try readVersion(connection, deadline)
            if version == 0, try !isPresent(connection, deadline).schema {
                try connection.execute("CREATE SCHEMA \(name)", deadline)
            }
            while version < target {
                try connection.execute(migrations[Int(version)], deadline)
                version += 1
                try connection.execute("UPDATE \(name).schema_version SET version = \(version)", deadline)
            }
            try connection.execute("COMMIT", deadline)
            return version
        } catch {
            // What was begun ends with the connection.
            connection.close()
            throw error
        }
    }

    /// The version; 0 if there is no registry yet.
    private static func readVersion(
        _ connection: Connection, _ deadline: Deadline
    ) throws(RegistryError) -> Int64 {
        let (_, table, isForeign) = try isPresent(connection, deadline)
        guard !isForeign else {
            throw RegistryError(
                .invalid,
                "The schema \(name) of \(connection.address.description) belongs to another program. Name another "
                    + "database in registry.url.")
        }
        guard table else { return 0 }
        let rows = try connection.run([Call("SELECT version::bigint FROM \(name).schema_version")], deadline)[0]
        let version = rows.count == 1 ? rows.integer(0, 0) : 0
        guard version >= 0 else {
            throw RegistryError(
                .invalid,
                "The registry \(connection.address.description) says that its schema has the version \(version), which "
                    + "there is not. Somebody has edited \(name).schema_version; write the number that was there.")
        }
        return version
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

    // MARK: Small steps

    /// What clients of CloudKit Web Services saved, in their own words.
    ///
    /// PostgreSQL stores long ones outside the row, so a query without this column does not read them.
    static let cloudKitDictionaries = """
        SET LOCAL search_path = \(name);
        ALTER TABLE subscription ADD COLUMN cloudkit_json text;
        """

    /// The key by which the servers recognise what they handed out: one row, from when it is first asked for.
    static let courierKey = """
        SET LOCAL search_path = \(name);
        CREATE TABLE courier_key (
            id integer PRIMARY KEY CHECK (id = 1),
            bytes bytea NOT NULL CHECK (octet_length(bytes) = 32)
        );
        """
}
