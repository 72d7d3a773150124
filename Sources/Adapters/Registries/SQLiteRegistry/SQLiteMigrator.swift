public import RegistryCore
import RegistrySQL

/// Does and undoes the migrations of a registry file.
///
/// Workers may go on: each step is one transaction, and they wait for it as for any other writer. Belongs to one thread
/// at a time.
public final class SQLiteMigrator: RegistryMigrator {
    /// The migrations that the program knows.
    public let migrations: SchemaMigrations
    private let connection: Connection

    /// Opens a registry of any version.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - migrations: the migrations that are known.
    ///   - busyTimeoutMilliseconds: how long a call waits for another process that writes.
    /// - Throws: `RegistryError` with `.unavailable` if there is no such file, `.readOnly` if it cannot be written.
    public init(
        path: String, migrations: SchemaMigrations = SQLiteRegistry.migrations, busyTimeoutMilliseconds: Int = 30_000
    ) throws(RegistryError) {
        self.migrations = migrations
        connection = try Connection(
            path: path, mode: .existing, busyTimeoutMilliseconds: Int32(clamping: busyTimeoutMilliseconds))
        try connection.execute(
            "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA synchronous = FULL")
        connection.noteFiles()
    }

    /// The path of the file.
    public var location: String { connection.path }

    /// The schema of the file.
    public func schemaState() throws(RegistryError) -> SchemaState { try connection.schemaState() }

    /// Does one step in a transaction of its own.
    public func perform(_ step: MigrationStep) throws(RegistryError) -> Bool {
        let isPerformed = try Schema.inTransaction("BEGIN IMMEDIATE", connection) { () throws(RegistryError) in
            guard try !step.isDone(in: try connection.presentState()) else { return false }
            try Schema.perform(step, connection)
            return true
        }
        try connection.requireSameFiles()
        return isPerformed
    }
}

extension SQLiteRegistry: SchemaRegistry {
    /// The migrations that this Apus knows.
    public static var migrations: SchemaMigrations { Schema.migrations }

    /// The path of the file.
    public var location: String { connection.path }

    /// The schema of the file as it is now.
    public func schemaState() throws(RegistryError) -> SchemaState { try connection.schemaState() }
}

extension Connection {
    /// The schema of a registry, read in a transaction of its own.
    fileprivate func schemaState() throws(RegistryError) -> SchemaState {
        try Schema.inTransaction("BEGIN", self) { () throws(RegistryError) in try presentState() }
    }

    /// The schema of a registry that must be there; the caller has begun a transaction.
    fileprivate func presentState() throws(RegistryError) -> SchemaState {
        guard let state = try Schema.state(self) else {
            throw RegistryError(
                .notFound,
                "The file \(path) is empty. 'apus run' makes a registry of it, with the newest schema.")
        }
        return state
    }
}
