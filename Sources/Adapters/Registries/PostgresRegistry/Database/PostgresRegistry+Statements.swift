import PostgreSQL
public import RegistryCore
public import RegistrySQL

extension PostgresRegistry: SQLStore {
    private struct StatementTransaction: SQLTransaction {
        let transaction: Transaction

        func run(_ statements: [SQLStatement], commits: Bool, _ read: Reader) throws(RegistryError) -> [Int] {
            let calls = statements.map { Call($0) }
            let answers = commits ? try transaction.commit(calls) : try transaction.run(calls)
            for (index, rows) in answers.enumerated() { for row in rows { try read(index, row) } }
            return answers.map(\.affectedCount)
        }
    }

    /// Asks in one round trip, and reads each row.
    public func ask(
        _ statements: [SQLStatement], _ read: (Int, any RowReader) throws(RegistryError) -> Void
    ) throws(RegistryError) {
        for (index, rows) in try ask(statements.map { Call($0) }).enumerated() {
            for row in rows { try read(index, row) }
        }
    }

    /// Runs `body` in a transaction, which is tried again after a conflict.
    public func write<Value>(
        durable: Bool, _ body: (any SQLTransaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try writing(durable: durable) { (transaction) throws(RegistryError) in
            try body(StatementTransaction(transaction: transaction))
        }
    }
}

extension Call {
    /// Takes over a statement that both databases understand.
    init(_ statement: SQLStatement) {
        self.init(
            SQLDialect.postgres(schema: Schema.name).text(statement),
            statement.values.map { value in
                switch value {
                case .integer(let number): .integer(number)
                case .text(let text): .text(text)
                case .bytes(let bytes): .bytes(bytes)
                case .truth(let isTrue): .integer(isTrue ? 1 : 0)
                case .among(let numbers): .integers(numbers)
                case .integers(let numbers): .optionalIntegers(numbers)
                case .texts(let texts): .optionalTexts(texts)
                case .byteLists(let lists): .byteLists(lists)
                }
            })
    }
}
