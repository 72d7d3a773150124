import CPostgres
import EventLoop

/// A connection that was made, and what is known of the session at its other end.
///
/// It ends with this object.
public final class ServerSession {
    /// libpq's connection.
    let handle: OpaquePointer
    /// Whether a pooler lends the session to others between our transactions, as PgBouncer does in transaction mode.
    public internal(set) var isShared = false
    /// Whether statements that were prepared under a name are there again in a later transaction.
    public internal(set) var keepsStatements = false
    /// The first call of each transaction; nil for a session that keeps its settings.
    var transactionSettings: Call?
    /// The names of the prepared statements, by their texts.
    var preparedNames: [String: String] = [:]

    private var nextStatement = 0
    /// No other connection has it, so that a pooler can never take the statement of another for ours.
    private let namePrefix = "apus_" + String(UInt64.random(in: 0 ... .max), radix: 36)
    private var expiresAtNanoseconds = UInt64.max

    /// Takes over a connection of libpq.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQfinish(handle) }

    /// A name for the next statement to prepare.
    func makeName() -> String {
        defer { nextStatement += 1 }
        return "\(namePrefix)_\(nextStatement)"
    }

    /// Whether another connection should take its place.
    var isExpired: Bool { MonotonicClock.nowNanoseconds() >= expiresAtNanoseconds }

    /// Limits its age from now on, up to a fifth less by chance, so that connections do not all end at once.
    func expire(afterMilliseconds milliseconds: Int) {
        let age = UInt64(max(milliseconds, 0)) * 1_000_000
        expiresAtNanoseconds = MonotonicClock.nowNanoseconds() &+ age - UInt64.random(in: 0...age / 5)
    }
}
