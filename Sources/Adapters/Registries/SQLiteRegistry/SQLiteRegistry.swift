import CSQLite
public import RegistryCore
import RegistrySQL

/// The registry in one SQLite file, which several processes on a machine may use at once.
///
/// Belongs to one thread at a time and is not `Sendable`: the connection is opened without SQLite's own mutex. Put it
/// behind the loop or thread that owns it.
///
/// The file is in write-ahead-log mode, so look-ups never wait for a writer. Registrations and subscriptions are
/// written with `synchronous = FULL`, because their caller was told that they are kept: they survive a loss of power.
/// Data that the worker can find out again (dead tokens, names of datasets) is written with `synchronous = NORMAL`.
/// That keeps the file consistent, spares the wait for the disk, and may lose the last writes when the power fails.
///
/// The connection's memory is kept low: 2 MiB of page cache and no memory map, so that a registry of a
/// million devices fits the worker's budget; the system's file cache serves the rest.
public final class SQLiteRegistry: Registry {
    let connection: Connection
    let statements: StatementCache
    let apps: InternedNames
    let pools: InternedNames
    let datasetNames: InternedNames
    let identities: InternedNames
    let queries: AudienceQueries
    let countingQueries: CountingQueries
    let subscriberQueries: SubscriberQueries
    let decoder = SubscriptionDecoder()
    /// Whether opening it made it.
    public let isNew: Bool
    /// The migrations that the program knows.
    public let migrations: SchemaMigrations
    /// How often this connection has written.
    private(set) var ownWrites = 0
    /// The end of the followed log, and the state of the file at that moment.
    var followed: (version: FollowedVersion, cursor: SubscriptionCursor)?
    /// The quotas; unlimited until they are set.
    public var quotas = RegistryQuotas.unlimited
    private var isDurable: Bool?

    /// Opens a registry, and makes it if the mode allows.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - mode: the access that is wanted.
    ///   - busyTimeoutMilliseconds: how long a call waits for another process that writes.
    ///   - cacheSizeKibibytes: how much of the file the connection keeps in memory.
    ///   - migrations: the migrations that are known; a new registry gets all of them.
    /// - Returns: the registry.
    /// - Throws: `RegistryError`: `.unavailable` (missing, or locked too long), `.readOnly`, `.corrupt`,
    ///   `.newerSchema`, `.olderSchema`, `.invalid` (another program's database).
    public static func open(
        path: String, mode: RegistryOpenMode, busyTimeoutMilliseconds: Int = 5_000, cacheSizeKibibytes: Int = 2_048,
        migrations: SchemaMigrations = SQLiteRegistry.migrations
    ) throws(RegistryError) -> SQLiteRegistry {
        let connection = try Connection(
            path: path, mode: mode, busyTimeoutMilliseconds: Int32(clamping: busyTimeoutMilliseconds),
            cacheSizeKibibytes: cacheSizeKibibytes)
        // A damaged file must not make SQLite read outside a page, and its schema must not call functions.
        try connection.execute(
            """
            PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0;
            """)
        try connection.setCacheSize()
        if mode != .readOnly {
            try connection.switchToWriteAheadLog(waitingMilliseconds: busyTimeoutMilliseconds)
        }
        let isNew = try Schema.prepare(connection, mode: mode, migrations)
        connection.noteFiles()
        return SQLiteRegistry(connection, isNew: isNew, migrations)
    }

    private init(_ connection: Connection, isNew: Bool, _ migrations: SchemaMigrations) {
        self.connection = connection
        self.isNew = isNew
        self.migrations = migrations
        let statements = StatementCache(connection: connection)
        self.statements = statements
        func names(_ table: String, remembering maximum: Int) -> InternedNames {
            InternedNames(
                table: table, rememberedMaximum: maximum, connection: connection, statements: statements)
        }
        apps = names("app", remembering: 4_096)
        pools = names("identity_pool", remembering: 4_096)
        datasetNames = names("dataset_name", remembering: 4_096)
        // As many as devices, so a memory of some would rarely help.
        identities = names("identity", remembering: 0)
        queries = AudienceQueries(connection: connection)
        countingQueries = CountingQueries(connection: connection)
        subscriberQueries = SubscriberQueries(connection: connection)
    }

    /// Sets how long a call waits for another process that writes, for calls from now on.
    public func setBusyTimeout(milliseconds: Int) {
        sqlite3_busy_timeout(connection.handle, Int32(clamping: milliseconds))
    }

    // MARK: Transactions

    /// Runs `body` so that it sees one state of the registry.
    func reading<Value>(_ body: () throws(RegistryError) -> Value) throws(RegistryError) -> Value {
        try transaction(begin: "BEGIN", body)
    }

    /// Runs `body` and keeps all or none of what it writes; waits for other writers up to the busy timeout.
    ///
    /// It checks the files a second time at the end, so that no write to a removed file is confirmed.
    ///
    /// - Parameters:
    ///   - durable: whether it must survive a loss of power, see the type.
    ///   - body: the work.
    /// - Returns: the result of `body`.
    /// - Throws: `RegistryError` if the store cannot be written, or what `body` throws.
    func writing<Value>(durable: Bool, _ body: () throws(RegistryError) -> Value) throws(RegistryError) -> Value {
        if isDurable != durable {
            try connection.execute(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            isDurable = durable
        }
        ownWrites += 1
        let value = try transaction(begin: "BEGIN IMMEDIATE", body)
        try connection.requireSameFiles()
        return value
    }

    private func transaction<Value>(
        begin: String, _ body: () throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try connection.requireSameFiles()
        try statements.statement(begin).run()
        do throws(RegistryError) {
            let value = try body()
            try statements.statement("COMMIT").run()
            return value
        } catch {
            // Some failures have ended the transaction already.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            for names in [apps, pools, datasetNames, identities] { names.forget() }
            throw error
        }
    }
}

extension SQLiteRegistry: PauseRegistry, WorkerReportRegistry, AuditRegistry, DeadLetterRegistry {}
extension SQLiteRegistry: CourierRegistry, CourierKeyRegistry, FanOutRegistry, CampaignRegistry {}
extension SQLiteRegistry: DeviceDetailRegistry, EventMemoryRegistry, OutcomeHistoryRegistry {}
extension SQLiteRegistry: OutcomeOutboxRegistry {}
