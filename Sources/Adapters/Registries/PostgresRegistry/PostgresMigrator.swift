import PostgreSQL
public import RegistryCore
import RegistrySQL

/// Does and undoes the migrations of a registry in PostgreSQL.
///
/// Workers may go on: each step is one transaction. It waits briefly for the locks of its tables, because all others
/// queue behind a statement that waits for such a lock. Belongs to one thread at a time.
public final class PostgresMigrator: RegistryMigrator {
    /// How long a step may take, including the wait for other migrators.
    private static let stepMilliseconds = 86_400_000

    /// The migrations that the program knows.
    public let migrations: SchemaMigrations
    private let connection: Connection
    private let lockMilliseconds: Int

    /// Opens a registry of any version.
    ///
    /// - Parameters:
    ///   - url: as for `PostgresRegistry.open`; its user owns the tables.
    ///   - migrations: the migrations that are known.
    ///   - callMilliseconds: how long reading the version may take.
    ///   - connectMilliseconds: how long to wait for a connection.
    ///   - lockMilliseconds: how long a statement waits for a lock on a table.
    /// - Throws: `RegistryError`, without the password, with `.unavailable` if the server is out of reach.
    public init(
        url: String, migrations: SchemaMigrations = PostgresRegistry.migrations, callMilliseconds: Int = 10_000,
        connectMilliseconds: Int = 5_000, lockMilliseconds: Int = 3_000
    ) throws(RegistryError) {
        self.migrations = migrations
        self.lockMilliseconds = lockMilliseconds
        connection = Connection(
            address: try ServerAddress(ofRegistry: url), callMilliseconds: callMilliseconds,
            connectMilliseconds: connectMilliseconds, isForWriting: true
        ) { _ in }
        try connection.ensureOpen()
    }

    /// Where the registry is, without user and password.
    public var location: String { connection.address.description }

    /// The schema of the registry.
    public func schemaState() throws(RegistryError) -> SchemaState { try connection.schemaState() }

    /// Does one step in a transaction of its own.
    public func perform(_ step: MigrationStep) throws(RegistryError) -> Bool {
        try connection.ensureOpen()
        let deadline = Deadline(milliseconds: Self.stepMilliseconds)
        return try Schema.inTransaction(connection, deadline) { () throws(RegistryError) in
            guard try !step.isDone(in: try connection.presentState(deadline)) else { return false }
            try connection.execute("SET LOCAL lock_timeout = \(lockMilliseconds)", deadline)
            try Schema.perform(step, connection, deadline)
            return true
        }
    }
}

extension PostgresRegistry: SchemaRegistry {
    /// The migrations that this Apus knows.
    public static var migrations: SchemaMigrations { Schema.migrations }

    /// The schema of the registry as it is now.
    public func schemaState() throws(RegistryError) -> SchemaState { try connection.schemaState() }
}

extension Connection {
    /// The schema of a registry that must be there.
    fileprivate func schemaState() throws(RegistryError) -> SchemaState {
        try ensureOpen()
        return try presentState(Deadline(milliseconds: callMilliseconds))
    }

    fileprivate func presentState(_ deadline: Deadline) throws(RegistryError) -> SchemaState {
        guard let state = try Schema.state(self, deadline) else { throw Schema.missing(address.description) }
        return state
    }
}
