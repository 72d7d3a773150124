public import RegistryCore

/// A registry's database, for what is the same in all of them.
public protocol SQLStore: SchemaRegistry {
    /// Asks in one round trip, and reads each row.
    ///
    /// - Parameters:
    ///   - statements: the questions.
    ///   - read: is given each row, and the number of its statement, from 0.
    /// - Throws: `RegistryError` if the store cannot be read, or what `read` throws.
    func ask(
        _ statements: [SQLStatement], _ read: (Int, any RowReader) throws(RegistryError) -> Void
    ) throws(RegistryError)

    /// Runs `body` in a transaction, and keeps all or none of what it writes.
    ///
    /// - Parameters:
    ///   - durable: whether it must survive a loss of power.
    ///   - body: the work, which ends with `SQLTransaction.commit`; it may run again after a conflict.
    /// - Returns: the result of `body`.
    /// - Throws: `RegistryError` if the store cannot be written, or what `body` throws.
    func write<Value>(
        durable: Bool, _ body: (any SQLTransaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value
}

extension SQLStore {
    /// Asks one question.
    func ask<Value>(
        _ statement: SQLStatement, _ read: (any RowReader) throws(RegistryError) -> Value
    ) throws(RegistryError) -> [Value] {
        var values: [Value] = []
        try ask([statement]) { (_, row) throws(RegistryError) in values.append(try read(row)) }
        return values
    }

    /// Writes with one statement.
    ///
    /// - Returns: how many rows it added, changed or removed.
    @discardableResult
    func write(durable: Bool, _ statement: SQLStatement) throws(RegistryError) -> Int {
        try write(durable: durable) { (transaction) throws(RegistryError) in try transaction.commit([statement])[0] }
    }
}

extension RegistryError {
    /// The error that makes a transaction run again, because another one came in between.
    public static let conflict = RegistryError(
        .unavailable, "The registry could not do it now, because others change the same. Try again.")
}

/// A transaction of a registry's database.
public protocol SQLTransaction {
    /// Reads a row, which the statement of a number, from 0, returns.
    typealias Reader = (Int, any RowReader) throws(RegistryError) -> Void

    /// Runs statements, in one round trip.
    ///
    /// - Parameters:
    ///   - statements: the statements.
    ///   - commits: whether they are the last ones.
    ///   - read: is given each row that they return.
    /// - Returns: how many rows each of those that write added, changed or removed.
    /// - Throws: `RegistryError` if one fails, or what `read` throws.
    func run(_ statements: [SQLStatement], commits: Bool, _ read: Reader) throws(RegistryError) -> [Int]
}

extension SQLTransaction {
    /// Runs statements, in one round trip.
    @discardableResult
    func run(_ statements: [SQLStatement], _ read: Reader = { _, _ in }) throws(RegistryError) -> [Int] {
        try run(statements, commits: false, read)
    }

    /// Runs statements and commits, in one round trip.
    @discardableResult
    func commit(_ statements: [SQLStatement], _ read: Reader = { _, _ in }) throws(RegistryError) -> [Int] {
        try run(statements, commits: true, read)
    }
}
