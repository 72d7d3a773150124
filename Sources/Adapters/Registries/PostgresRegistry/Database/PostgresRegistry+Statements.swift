public import RegistryCore
public import RegistrySQL

extension PostgresRegistry: SQLStore {
    private struct StatementTransaction: SQLTransaction {
        let transaction: Transaction

        func run(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome] {
            try transaction.run(statements.map(PostgresRegistry.call)).map(PostgresRegistry.outcome)
        }

        func commit(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome] {
            try transaction.commit(statements.map(PostgresRegistry.call)).map(PostgresRegistry.outcome)
        }
    }

    private static let dialect = SQLDialect(
        table: { "\(Schema.name).\($0)" },
        parameter: { number, value in
            switch value {
            case .integer: "$\(number)::bigint"
            case .text: "$\(number)::text"
            case .bytes: "$\(number)::bytea"
            case .truth: "$\(number)::bigint <> 0"
            case .among: "= ANY ($\(number)::bigint[])"
            }
        })

    /// Asks in one round trip, and reads each row.
    public func ask<Value>(
        _ statement: SQLStatement, _ read: (any RowReader) throws(RegistryError) -> Value
    ) throws(RegistryError) -> [Value] {
        try ask([Self.call(statement)])[0].map { (row) throws(RegistryError) in try read(row) }
    }

    /// Runs `body` in a transaction, which is tried again after a conflict.
    public func write<Value>(
        durable: Bool, _ body: (any SQLTransaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try writing(durable: durable) { (transaction) throws(RegistryError) in
            try body(StatementTransaction(transaction: transaction))
        }
    }

    private static func call(_ statement: SQLStatement) -> Call {
        Call(
            dialect.text(statement),
            statement.values.map { value in
                switch value {
                case .integer(let number): .integer(number)
                case .text(let text): .text(text)
                case .bytes(let bytes): .bytes(bytes)
                case .truth(let isTrue): .integer(isTrue ? 1 : 0)
                case .among(let numbers): .integers(numbers)
                }
            })
    }

    private static func outcome(_ rows: Rows) -> SQLOutcome {
        SQLOutcome(changedRows: rows.affectedCount, number: rows.count > 0 ? rows.optionalInteger(0, 0) : nil)
    }
}
