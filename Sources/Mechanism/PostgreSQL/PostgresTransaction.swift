/// One transaction, which begins with its first statements and ends with its last, so that neither costs a round trip.
public final class PostgresTransaction<Failure: ServerFailure> {
    private let connection: PostgresConnection<Failure>
    private let isDurable: Bool
    private let deadline: Deadline
    private var hasBegun = false
    private var hasCommitted = false

    /// Creates a transaction; the server hears of it with the first statement.
    public init(_ connection: PostgresConnection<Failure>, isDurable: Bool, _ deadline: Deadline) {
        self.connection = connection
        self.isDurable = isDurable
        self.deadline = deadline
    }

    /// Runs statements, in one round trip.
    public func run(_ calls: [Call]) throws(Failure) -> [Rows] { try send(calls, thenCommit: false) }

    /// Runs statements and commits, in one round trip.
    @discardableResult
    public func commit(_ calls: [Call]) throws(Failure) -> [Rows] {
        let rows = try send(calls, thenCommit: true)
        hasCommitted = true
        return rows
    }

    /// Ends a transaction whose work turned out to be needless.
    public func rollBackUnlessCommitted() throws(Failure) {
        guard hasBegun, !hasCommitted else { return }
        try connection.execute("ROLLBACK", deadline)
    }

    /// Ends a transaction that failed; a connection that does not even do that is closed.
    public func abandon() {
        guard connection.isInTransaction else { return }
        do throws(Failure) {
            try connection.execute("ROLLBACK", Deadline(milliseconds: connection.callMilliseconds))
        } catch {
            connection.close()
        }
    }

    private func send(_ calls: [Call], thenCommit isLast: Bool) throws(Failure) -> [Rows] {
        var all: [Call] = []
        if !hasBegun {
            all.append(.begin)
            if !isDurable { all.append(Call("SET LOCAL synchronous_commit = off")) }
        }
        let first = all.count
        all += calls
        if isLast { all.append(Call("COMMIT")) }
        hasBegun = true
        return Array(try connection.run(all, deadline)[first..<(first + calls.count)])
    }
}
