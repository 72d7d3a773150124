import PostgreSQL

/// A row of the outbox that a relay holds.
struct OutboxRow: Hashable, Sendable {
    /// Its number.
    let number: Int64
    /// A structured CloudEvent, if the backend wrote one.
    let event: [UInt8]
    /// How long ago it was written, in milliseconds.
    let waitedMilliseconds: Int64
}

/// The outbox in a backend's database.
///
/// Belongs to one thread at a time.
final class Outbox {
    /// How long one call may take, in milliseconds.
    private static let callMilliseconds = 10_000
    /// How long making a connection may take, in milliseconds.
    private static let connectMilliseconds = 5_000
    /// How long a transaction may stay open without a call, in milliseconds; the server then ends the connection.
    static let transactionMilliseconds = 60_000

    private let connection: PostgresConnection<OutboxError>
    /// The transaction that holds rows; nil if none are held.
    private var transaction: PostgresTransaction<OutboxError>?

    /// Names an outbox; the first call connects.
    ///
    /// - Parameter url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`.
    /// - Throws: `OutboxError` if it cannot be read; it does not quote the URL.
    init(url: String) throws(OutboxError) {
        let address: ServerAddress
        do throws(ServerAddressFault) { address = try ServerAddress(url: url) } catch {
            throw OutboxError.unreadable(error)
        }
        let settings = SessionSettings(
            values: [
                ("statement_timeout", "\(Self.callMilliseconds)"), ("jit", "off"),
                ("idle_in_transaction_session_timeout", "\(Self.transactionMilliseconds)"),
            ], isReadOnly: false)
        connection = PostgresConnection(
            address: address, callMilliseconds: Self.callMilliseconds, connectMilliseconds: Self.connectMilliseconds,
            settings: settings, isForWriting: true
        ) { (connection) throws(OutboxError) in
            try Self.begin(connection)
        }
    }

    /// Where it is, without user and password.
    var location: String { connection.address.description }

    private static func begin(_ connection: PostgresConnection<OutboxError>) throws(OutboxError) {
        let deadline = Deadline(milliseconds: connection.callMilliseconds)
        let answer = try connection.run([Call("SELECT apus_outbox.problem()")], deadline)[0]
        if answer.count > 0, case let problem = answer.text(0, 0), !problem.isEmpty {
            throw OutboxError(.unusable, "\(problem). Make it as 'apus relay sql' prints it.")
        }
        // A pooler's session hears of nothing; the table is looked at anyway.
        if connection.session?.isShared != true { try connection.execute("LISTEN apus_outbox", deadline) }
    }

    /// Takes rows, which are held until `finish` or `release`.
    ///
    /// - Parameters:
    ///   - maximum: the most rows.
    ///   - beginning: the number from which on it looks for them.
    /// - Returns: the oldest that no other relay holds, in the order of their numbers.
    /// - Throws: `OutboxError`; then nothing is held.
    func take(_ maximum: Int, from beginning: Int64 = 0) throws(OutboxError) -> [OutboxRow] {
        release()
        try connection.ensureOpen()
        let transaction = PostgresTransaction(
            connection, isDurable: true, Deadline(milliseconds: Self.transactionMilliseconds))
        do throws(OutboxError) {
            let rows = try transaction.run([
                Call(
                    "SELECT * FROM apus_outbox.take($1::bigint::integer, $2::bigint)",
                    [.integer(Int64(maximum)), .integer(beginning)])
            ])[0]
            if rows.count > 0 { self.transaction = transaction } else { try transaction.rollBackUnlessCommitted() }
            return rows.map { row in
                OutboxRow(
                    number: rows.integer(row.number, 0), event: Array(rows.bytes(row.number, 1)),
                    waitedMilliseconds: rows.integer(row.number, 2))
            }
        } catch {
            transaction.abandon()
            throw error
        }
    }

    /// Removes rows, in the transaction that holds them or in one of its own.
    ///
    /// - Parameters:
    ///   - published: the numbers of those that RabbitMQ has.
    ///   - refused: the numbers of those that make no event, with the reasons.
    /// - Throws: `OutboxError`; then all are still there.
    func finish(published: [Int64], refused: [(number: Int64, reason: String)]) throws(OutboxError) {
        if transaction == nil { try connection.ensureOpen() }
        let ending =
            transaction
            ?? PostgresTransaction(connection, isDurable: true, Deadline(milliseconds: Self.callMilliseconds))
        transaction = nil
        do throws(OutboxError) {
            try ending.commit([
                Call(
                    "SELECT apus_outbox.finish($1::bigint[], $2::bigint[], $3::text[])",
                    [.integers(published), .integers(refused.map(\.number)), .texts(refused.map(\.reason))])
            ])
        } catch {
            ending.abandon()
            throw error
        }
    }

    /// How long ago the oldest row was written, in milliseconds; nil if there is none.
    func oldestWaitedMilliseconds() throws(OutboxError) -> Int64? {
        try connection.ensureOpen()
        let deadline = Deadline(milliseconds: Self.callMilliseconds)
        return try connection.run([Call("SELECT apus_outbox.waited()")], deadline)[0].optionalInteger(0, 0)
    }

    /// Makes sure that the user may call all that a relay calls.
    func requireRights() throws(OutboxError) {
        try connection.ensureOpen()
        let deadline = Deadline(milliseconds: Self.callMilliseconds)
        let lacking = try connection.run(
            [
                Call(
                    """
                    SELECT f FROM unnest($1::text[]) f WHERE NOT has_function_privilege('apus_outbox.' || f, 'EXECUTE')
                    """, [.texts(OutboxSQL.relayFunctions)])
            ], deadline)[0]
        guard lacking.count > 0 else { return }
        throw OutboxError.notPermitted(location, "no right to call \(lacking.text(0, 0))")
    }

    /// Lets go of rows that are held; another relay may take them.
    func release() {
        transaction?.abandon()
        transaction = nil
    }

    /// Ends the connection, and with it the hold on rows.
    func close() {
        transaction = nil
        connection.close()
    }

    /// Waits until a row may have been committed, or a time is over.
    func waitForRows(milliseconds: Int) throws(OutboxError) {
        try connection.waitForNotification(milliseconds: milliseconds)
    }
}
