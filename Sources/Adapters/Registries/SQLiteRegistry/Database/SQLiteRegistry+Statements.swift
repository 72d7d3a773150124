public import RegistryCore
public import RegistrySQL

extension SQLiteRegistry: SQLStore {
    /// A transaction that has begun; `writing` ends it.
    private struct Transaction: SQLTransaction {
        let registry: SQLiteRegistry

        func run(_ statements: [SQLStatement], commits: Bool, _ read: Reader) throws(RegistryError) -> [Int] {
            var counts: [Int] = []
            for (index, statement) in statements.enumerated() {
                counts.append(try registry.run(statement) { (row) throws(RegistryError) in try read(index, row) })
            }
            return counts
        }
    }

    /// Asks, and reads each row.
    public func ask(
        _ statements: [SQLStatement], _ read: (Int, any RowReader) throws(RegistryError) -> Void
    ) throws(RegistryError) {
        try reading { () throws(RegistryError) in
            for (index, statement) in statements.enumerated() {
                try run(statement) { (row) throws(RegistryError) in try read(index, row) }
            }
        }
    }

    /// Runs `body` in a transaction.
    public func write<Value>(
        durable: Bool, _ body: (any SQLTransaction) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        try writing(durable: durable) { () throws(RegistryError) in try body(Transaction(registry: self)) }
    }

    /// Runs a statement, once for each row of its table of rows if it has one.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(
        _ statement: SQLStatement, _ read: (Statement) throws(RegistryError) -> Void = { _ in }
    ) throws(RegistryError) -> Int {
        guard statement.rowCount != 0 else { return 0 }
        let prepared = try statements.statement(SQLDialect.sqlite.text(statement))
        var count = 0
        for row in 0..<(statement.rowCount ?? 1) {
            for (index, value) in zip(Int32(1)..., statement.values) { prepared.bind(index, value, row) }
            try prepared.forEachRow(read)
            count += connection.changedRows
        }
        return count
    }
}

extension Statement {
    /// Binds a value, of which a row is meant if it is a column of rows.
    fileprivate func bind(_ index: Int32, _ value: SQLStatement.Value, _ row: Int) {
        switch value {
        case .integer(let number): bind(index, number)
        case .text(let text): bind(index, text)
        case .bytes(let bytes): bind(index, bytes)
        case .truth(let isTrue): bind(index, isTrue ? 1 : 0)
        case .among(let numbers): if numbers.count == 1 { bind(index, numbers[0]) } else { bind(index, "\(numbers)") }
        case .integers(let numbers): bind(index, numbers[row])
        case .texts(let texts): bind(index, texts[row])
        case .byteLists(let lists): bind(index, lists[row])
        }
    }
}
