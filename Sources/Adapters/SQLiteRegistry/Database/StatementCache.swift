import PushCore

/// The prepared statements of one connection, by their text.
final class StatementCache {
    private let connection: Connection
    private var statements: [String: Statement] = [:]

    /// Creates an empty cache.
    init(connection: Connection) {
        self.connection = connection
    }

    /// The statement with this text, prepared at its first use.
    ///
    /// The texts are constants of this target, so their number is bounded.
    func statement(_ sql: String) throws(RegistryError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, connection: connection)
        statements[sql] = statement
        return statement
    }
}
