public import RegistryCore

/// A registry's database, for what is the same in all of them.
public protocol SQLStore: SchemaRegistry {
    /// Asks in one round trip, and reads each row.
    ///
    /// - Throws: `RegistryError` if the store cannot be read, or what `read` throws.
    func ask<Value>(
        _ statement: SQLStatement, _ read: (any RowReader) throws(RegistryError) -> Value
    ) throws(RegistryError) -> [Value]

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
    /// Writes with one statement.
    @discardableResult
    func write(durable: Bool, _ statement: SQLStatement) throws(RegistryError) -> SQLOutcome {
        try write(durable: durable) { (transaction) throws(RegistryError) in try transaction.commit([statement])[0] }
    }
}

/// A transaction of a registry's database.
public protocol SQLTransaction {
    /// Runs statements, in one round trip.
    func run(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome]

    /// Runs statements and commits, in one round trip.
    func commit(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome]
}

/// The result of a statement that writes.
public struct SQLOutcome: Sendable {
    /// How many rows it added, changed or removed.
    public var changedRows: Int
    /// The number in the first column of the first row that it returns; nil if it returns none.
    public var number: Int64?

    /// Describes a result.
    public init(changedRows: Int, number: Int64?) {
        self.changedRows = changedRows
        self.number = number
    }
}
