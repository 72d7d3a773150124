/// The errors of a connection, in the words of its user: they say what to do, and each user has other remedies.
///
/// An address is host, port and database, without user and password.
public protocol ServerFailure: Error {
    /// What happened and what to do.
    var message: String { get }

    /// An error of the server.
    ///
    /// - Parameters:
    ///   - state: the SQLSTATE, five characters (PostgreSQL, "PostgreSQL Error Codes").
    ///   - message: the server's primary message; never its detail, which quotes values.
    ///   - address: where the server is.
    ///   - milliseconds: how long a call may take.
    init(sqlState state: String, message: String, address: String, milliseconds: Int)

    /// There is no connection, for a reason in libpq's words, on one line.
    static func unreachable(_ address: String, _ reason: String) -> Self

    /// The server can only be read now, by its own words.
    static func onlyReadable(_ address: String, _ reason: String) -> Self

    /// A pooler takes transactions apart.
    static func poolsStatements(_ address: String) -> Self

    /// The server was silent for too long.
    static func silent(_ address: String, milliseconds: Int) -> Self

    /// The server is older than the oldest major version that is served.
    static func tooOld(_ address: String, oldestVersion: Int) -> Self

    /// The database has another encoding than UTF-8.
    static func wrongEncoding(_ address: String, _ encoding: String) -> Self
}
