import EventLoop
import RegistryCore

/// One transaction, which begins with its first statements and ends with its last, so that neither costs a round trip.
final class Transaction {
    private let connection: Connection
    private let isDurable: Bool
    private let deadline: Deadline
    private var hasBegun = false
    private var hasCommitted = false

    /// Creates a transaction; the server hears of it with the first statement.
    init(_ connection: Connection, isDurable: Bool, _ deadline: Deadline) {
        self.connection = connection
        self.isDurable = isDurable
        self.deadline = deadline
    }

    /// Runs statements, in one round trip.
    func run(_ calls: [Call]) throws(RegistryError) -> [Rows] { try send(calls, thenCommit: false) }

    /// Runs statements and commits, in one round trip.
    @discardableResult
    func commit(_ calls: [Call]) throws(RegistryError) -> [Rows] {
        let rows = try send(calls, thenCommit: true)
        hasCommitted = true
        return rows
    }

    /// Ends a transaction whose work turned out to be needless.
    func rollBackUnlessCommitted() throws(RegistryError) {
        guard hasBegun, !hasCommitted else { return }
        try connection.execute("ROLLBACK", deadline)
    }

    /// Ends a transaction that failed; a connection that does not even do that is closed.
    func abandon() {
        guard connection.isInTransaction else { return }
        do throws(RegistryError) {
            try connection.execute("ROLLBACK", Deadline(milliseconds: connection.callMilliseconds))
        } catch {
            connection.close()
        }
    }

    private func send(_ calls: [Call], thenCommit isLast: Bool) throws(RegistryError) -> [Rows] {
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

/// Until when a call may take, by the monotonic clock.
struct Deadline {
    private let endNanoseconds: UInt64
    /// The whole time, in milliseconds, for messages.
    let milliseconds: Int

    /// Begins now.
    init(milliseconds: Int) {
        self.milliseconds = milliseconds
        endNanoseconds = MonotonicClock.nowNanoseconds() &+ UInt64(max(milliseconds, 0)) * 1_000_000
    }

    /// Returns the deadline of one try, when several tries share the time that is left.
    ///
    /// - Parameter count: how many tries are still to come, this one included.
    /// - Returns: a deadline after an equal share of the time.
    func share(of count: Int) -> Deadline {
        count > 1 ? Deadline(milliseconds: Int(remainingMilliseconds) / count) : self
    }

    /// The remaining milliseconds, rounded up, so that a wait never ends before the deadline; 0 if it has passed.
    var remainingMilliseconds: Int32 {
        let now = MonotonicClock.nowNanoseconds()
        return now >= endNanoseconds ? 0 : Int32(clamping: (endNanoseconds - now + 999_999) / 1_000_000)
    }
}
