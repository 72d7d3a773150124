public import RegistryCore
public import RegistrySQL

extension SQLiteRegistry: SQLStore {
    /// A transaction that has begun; `writing` ends it.
    private struct Transaction: SQLTransaction {
        let registry: SQLiteRegistry

        func run(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome] {
            var outcomes: [SQLOutcome] = []
            for statement in statements { outcomes.append(try registry.prepared(statement).outcome()) }
            return outcomes
        }

        func commit(_ statements: [SQLStatement]) throws(RegistryError) -> [SQLOutcome] { try run(statements) }
    }

    private static let dialect = SQLDialect(
        table: { $0 },
        parameter: { number, value in
            switch value {
            case .integer, .text, .bytes: "?\(number)"
            case .truth: "?\(number) <> 0"
            case .among: "IN (SELECT value FROM json_each(?\(number)))"
            }
        })

    /// Asks, and reads each row.
    public func ask<Value>(
        _ statement: SQLStatement, _ read: (any RowReader) throws(RegistryError) -> Value
    ) throws(RegistryError) -> [Value] {
        try reading { () throws(RegistryError) in
            var values: [Value] = []
            try prepared(statement).forEachRow { row throws(RegistryError) in values.append(try read(row)) }
            return values
        }
    }

    /// Runs `body` in a transaction.
    public func write<Value>(
        durable: Bool, _ body: (any SQLTransaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try writing(durable: durable) { () throws(RegistryError) in try body(Transaction(registry: self)) }
    }

    private func prepared(_ statement: SQLStatement) throws(RegistryError) -> Statement {
        let prepared = try statements.statement(Self.dialect.text(statement))
        for (index, value) in zip(Int32(1)..., statement.values) {
            switch value {
            case .integer(let number): prepared.bind(index, number)
            case .text(let text): prepared.bind(index, text)
            case .bytes(let bytes): prepared.bind(index, bytes)
            case .truth(let isTrue): prepared.bind(index, isTrue ? 1 : 0)
            case .among(let numbers): prepared.bind(index, "\(numbers)")
            }
        }
        return prepared
    }
}
