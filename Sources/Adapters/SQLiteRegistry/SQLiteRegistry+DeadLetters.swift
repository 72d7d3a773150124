public import PushCore

extension SQLiteRegistry: DeadLetterRegistry {
    private static let insertion = """
        INSERT INTO dead_letter (\(DeadLetter.storedColumns.names()))
        VALUES (\(DeadLetter.storedColumns.parameters(from: 1))) ON CONFLICT (id) DO NOTHING
        """

    /// Keeps letters in their order.
    public func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(Self.insertion)
            var addedCount = 0
            for letter in letters {
                statement.bind(DeadLetter.storedColumns, of: letter, from: 1)
                addedCount += try statement.run()
            }
            return addedCount
        }
    }

    /// Letters in the order in which they were added.
    public func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary] {
        let conditions = Self.conditions(filter, from: 3)
        let statement = try statements.statement(
            """
            SELECT \(DeadLetterSummary.readColumns) FROM dead_letter
            WHERE number > ?1\(conditions.map { " AND " + $0.sql }.joined())
            ORDER BY number LIMIT ?2
            """)
        statement.bind(1, number)
        statement.bind(2, Int64(max(limit, 0)))
        for condition in conditions { condition.bind(statement) }
        var letters: [DeadLetterSummary] = []
        try statement.forEachRow { row in letters.append(DeadLetterSummary(row)) }
        return letters
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        let conditions = Self.conditions(filter, from: 1)
        let statement = try statements.statement(
            """
            SELECT \(DeadLetterCount.readColumns) FROM dead_letter
            WHERE true\(conditions.map { " AND " + $0.sql }.joined()) GROUP BY reason, app ORDER BY reason, app
            """)
        for condition in conditions { condition.bind(statement) }
        var counts: [DeadLetterCount] = []
        try statement.forEachRow { row in counts.append(DeadLetterCount(row)) }
        return counts
    }

    /// The number of the newest letter.
    public func newestDeadLetterNumber() throws(RegistryError) -> Int64 {
        try statements.statement("SELECT max(number) FROM dead_letter").firstInteger() ?? 0
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement("SELECT \(Message.readColumns) FROM dead_letter WHERE number = ?")
            var messages: [Int64: Message] = [:]
            for number in numbers {
                statement.bind(1, number)
                try statement.forEachRow { row throws(RegistryError) in
                    messages[number] = try Message(deadLetter: row)
                }
            }
            return messages
        }
    }

    /// Removes letters by their numbers.
    public func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("DELETE FROM dead_letter WHERE number = ?")
            var removedCount = 0
            for number in numbers {
                statement.bind(1, number)
                removedCount += try statement.run()
            }
            return removedCount
        }
    }

    /// The conditions of a filter; unset fields are not in the statement, so that an index can be used.
    ///
    /// There are few combinations, so the number of prepared statements is bounded.
    private static func conditions(
        _ filter: DeadLetterFilter, from first: Int32
    ) -> [(sql: String, bind: (Statement) -> Void)] {
        var conditions: [(sql: String, bind: (Statement) -> Void)] = []
        var index = first
        func add(_ value: String?, _ sql: (String) -> String) {
            guard let value else { return }
            let number = index
            conditions.append((sql("?\(number)"), { $0.bind(number, value) }))
            index += 1
        }
        func add(_ value: Int64?, _ sql: (String) -> String) {
            guard let value else { return }
            let number = index
            conditions.append((sql("?\(number)"), { $0.bind(number, value) }))
            index += 1
        }
        // Digits sort before "g", which ends the range of a prefix.
        add(filter.identifierPrefix) { "id >= \($0)" }
        add(filter.identifierPrefix.map { $0 + "g" }) { "id < \($0)" }
        add(filter.reason) { "reason = \($0)" }
        add(filter.app) { "app = \($0)" }
        add(filter.eventType) { "(event_type = \($0) OR substr(event_type, -length(\($0)) - 1) = '.' || \($0))" }
        add(filter.eventSource) { "event_source = \($0)" }
        add(filter.eventIdentifier) { "event_id = \($0)" }
        add(filter.sinceMilliseconds) { "dead_lettered_at >= \($0)" }
        add(filter.untilMilliseconds) { "dead_lettered_at < \($0)" }
        add(filter.numberMaximum) { "number <= \($0)" }
        return conditions
    }
}
