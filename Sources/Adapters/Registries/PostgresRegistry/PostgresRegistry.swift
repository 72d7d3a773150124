import PostgreSQL
public import RegistryCore
import RegistrySQL

/// The registry in a PostgreSQL database, which several machines may use at once.
///
/// Belongs to one thread at a time and is not `Sendable`. A call waits for the server at most until its deadline; then,
/// or when the connection is lost, it throws `.unavailable`, and the next call connects again. Registrations and
/// subscriptions are on the server's disk when their call returns. Data that the worker can find out again (dead
/// tokens, names of datasets) is written with `synchronous_commit = off`: it may get lost if the server's machine
/// fails.
///
/// Writers of one identity's datasets, and of one device, wait for each other; all others run side by side. Conflicts
/// of simultaneous writers (a deadlock, the same token registered twice) are tried again.
public final class PostgresRegistry: QuotaRegistry, Registry {
    /// How often a transaction that met another one is tried before the caller hears of it.
    private static let attemptsMaximum = 10

    /// How many servers that can only be read a transaction may meet before the caller hears of it.
    private static let serversMaximum = 3

    /// How long it may take to make a registry, including the wait for another that makes it.
    private static let makingMilliseconds = 60_000

    /// The quotas; unlimited until they are set.
    public var quotas = RegistryQuotas.unlimited
    let connection: Connection
    let decoder = SubscriptionDecoder()
    /// Whether opening it made it.
    public let isNew: Bool
    /// The migrations that the program knows.
    public let migrations: SchemaMigrations
    /// The page of subscriptions that the server was asked for ahead of time.
    var pageAhead: (cursor: SubscriptionCursor, limit: Int)?

    /// Opens a registry, and makes it if the mode allows.
    ///
    /// - Parameters:
    ///   - url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full` (PostgreSQL, "Connection URIs").
    ///   - mode: the access; both writing modes create a registry in a database that has none.
    ///   - callMilliseconds: how long one call waits for the server.
    ///   - connectMilliseconds: how long to wait for a connection.
    ///   - lockMilliseconds: how long one statement waits for another session's lock; nil for as long as the call.
    ///   - ageMilliseconds: the longest age of a connection; up to a fifth less, by chance.
    ///   - migrations: the migrations that are known; a new registry gets all of them.
    /// - Returns: the registry.
    /// - Throws: `RegistryError`: `.unavailable` (out of reach, login refused), `.readOnly`, `.newerSchema`,
    ///   `.olderSchema`, `.invalid` (the URL, or another program's schema). No error holds the password.
    public static func open(
        url: String, mode: RegistryOpenMode, callMilliseconds: Int = 10_000, connectMilliseconds: Int = 5_000,
        lockMilliseconds: Int? = nil, ageMilliseconds: Int = 300_000,
        migrations: SchemaMigrations = PostgresRegistry.migrations
    ) throws(RegistryError) -> PostgresRegistry {
        let timeout = max(callMilliseconds, 1)
        let settings = SessionSettings(
            ofRegistry: timeout, lockMilliseconds: lockMilliseconds, isReadOnly: mode == .readOnly)
        var isNew = false
        let connection = Connection(
            address: try ServerAddress(ofRegistry: url), callMilliseconds: timeout,
            connectMilliseconds: connectMilliseconds,
            ageMilliseconds: ageMilliseconds, settings: settings, isForWriting: mode != .readOnly
        ) { (connection) throws(RegistryError) in
            if try Schema.prepare(connection, mode: mode, migrations, milliseconds: makingMilliseconds) { isNew = true }
        }
        try connection.ensureOpen()
        return PostgresRegistry(connection, isNew: isNew, migrations)
    }

    private init(_ connection: Connection, isNew: Bool, _ migrations: SchemaMigrations) {
        self.connection = connection
        self.isNew = isNew
        self.migrations = migrations
    }

    /// Where the registry is, without user and password.
    public var location: String { connection.address.description }

    /// Makes sure that the user of the URL may write, and that this is no standby.
    ///
    /// - Throws: `RegistryError` with `.readOnly` if not.
    public func requireWritable() throws(RegistryError) {
        let call = Call(
            """
            SELECT (pg_is_in_recovery())::int,
                has_table_privilege('\(Schema.name).device', 'INSERT, UPDATE, DELETE')::int,
                (SELECT reset_val = 'on' FROM pg_settings WHERE name = 'default_transaction_read_only')::int
            """)
        let rows = try ask([call])[0]
        guard rows.integer(0, 0) == 0 else {
            throw RegistryError(
                .readOnly, "\(location) is a standby, which cannot be written; name the primary server.")
        }
        guard rows.integer(0, 2) == 0 else {
            throw RegistryError(
                .readOnly,
                "\(location) takes no writes, because default_transaction_read_only is on for this user, this database "
                    + "or the server; set it off.")
        }
        guard rows.integer(0, 1) == 1 else {
            throw RegistryError(
                .readOnly,
                "\(location) cannot be written by this user; grant it the rights to the tables of the schema "
                    + "\(Schema.name).")
        }
    }

    /// Advice for the operator about a pooler before the server; nil if there is none.
    public var poolerAdvice: String? {
        guard let session = connection.session, session.isShared, !session.keepsStatements else { return nil }
        return
            "\(location) is a connection pooler that keeps no prepared statements, so PostgreSQL plans each "
            + "statement anew. PgBouncer keeps them from version 1.21 on, in transaction mode, with "
            + "max_prepared_statements = 300."
    }

    // MARK: Calls

    /// Asks in one round trip.
    func ask(_ calls: [Call]) throws(RegistryError) -> [Rows] {
        try ask(calls, Deadline(milliseconds: connection.callMilliseconds))
    }

    /// Asks in one round trip, until a deadline.
    func ask(_ calls: [Call], _ deadline: Deadline) throws(RegistryError) -> [Rows] {
        try connection.ensureOpen()
        return try connection.run(calls, deadline)
    }

    /// Runs `body` in a transaction, which is tried again after a conflict.
    ///
    /// - Parameters:
    ///   - durable: whether it must survive a failure of the server's machine, see the type.
    ///   - body: the work; it ends with `Transaction.commit`, and otherwise nothing is kept.
    /// - Returns: the result of `body`.
    /// - Throws: `RegistryError` if the store cannot be written, or what `body` throws.
    func writing<Value>(
        durable: Bool, _ body: (Transaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        let deadline = Deadline(milliseconds: connection.callMilliseconds)
        var attempt = 1
        while true {
            try connection.ensureOpen()
            let transaction = Transaction(connection, isDurable: durable, deadline)
            do throws(RegistryError) {
                let value = try body(transaction)
                try transaction.rollBackUnlessCommitted()
                return value
            } catch {
                let isConflict = Self.conflicts.contains(connection.failureState) || error == RegistryError.conflict
                // The connection is closed now, and another may lead to the primary server.
                let isMisplaced = connection.failureState == "25006" && connection.isForWriting
                transaction.abandon()
                guard isConflict || (isMisplaced && attempt < Self.serversMaximum), attempt < Self.attemptsMaximum,
                    deadline.remainingMilliseconds > 0
                else { throw error }
                attempt += 1
            }
        }
    }

    /// The conflicts of transactions: serialization failure, deadlock, a key inserted twice, a device removed while
    /// subscribed.
    private static let conflicts: Set<String> = ["40001", "40P01", "23505", "23503"]
}

extension PostgresRegistry: PauseRegistry, WorkerReportRegistry, AuditRegistry, DeadLetterRegistry {}
extension PostgresRegistry: CourierRegistry, CourierKeyRegistry, FanOutRegistry, CampaignRegistry {}
extension PostgresRegistry: DeviceDetailRegistry, EventMemoryRegistry, OutcomeHistoryRegistry {}
extension PostgresRegistry: OutcomeOutboxRegistry {}
