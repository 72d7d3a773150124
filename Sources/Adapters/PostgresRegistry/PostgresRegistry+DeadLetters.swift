public import PushCore

extension PostgresRegistry: DeadLetterRegistry {
    /// Keeps letters in their order.
    public func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        guard !letters.isEmpty else { return 0 }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([DeadLetterCalls.add(letters)])[0].affectedCount
        }
    }

    /// Letters in the order in which they were added.
    public func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary] {
        try ask([DeadLetterCalls.page(filter, after: number, limit: limit)])[0].map { DeadLetterSummary($0) }
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        try ask([DeadLetterCalls.counts(filter)])[0].map { DeadLetterCount($0) }
    }

    /// The number of the newest letter.
    public func newestDeadLetterNumber() throws(RegistryError) -> Int64 {
        try ask([Call("SELECT coalesce(max(number), 0)::bigint FROM apus.dead_letter")])[0].integer(0, 0)
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        let call = Call(
            "SELECT \(Message.readColumns) FROM apus.dead_letter WHERE number = ANY ($1::bigint[])",
            [.integers(numbers)])
        var messages: [Int64: Message] = [:]
        for row in try ask([call])[0] { messages[row.integer(0)] = try Message(deadLetter: row) }
        return messages
    }

    /// Removes letters by their numbers.
    public func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call("DELETE FROM apus.dead_letter WHERE number = ANY ($1::bigint[])", [.integers(numbers)])
            return try transaction.commit([call])[0].affectedCount
        }
    }
}

/// The statements for dead letters.
enum DeadLetterCalls {
    /// Adds letters in their order, each once.
    static func add(_ letters: [DeadLetter]) -> Call {
        let columns = DeadLetter.storedColumns
        return Call(
            """
            INSERT INTO apus.dead_letter (\(columns.names()))
            SELECT \(columns.values(of: "r"))
            FROM unnest(\(columns.arrays(from: 1))) WITH ORDINALITY r(\(columns.names()), k) ORDER BY r.k
            ON CONFLICT (id) DO NOTHING
            """, columns.parameters(letters))
    }

    /// A page of summaries.
    static func page(_ filter: DeadLetterFilter, after number: Int64, limit: Int) -> Call {
        let (sql, values) = conditions(filter, from: 3)
        return Call(
            """
            SELECT \(DeadLetterSummary.readColumns)
            FROM apus.dead_letter WHERE number > $1::bigint\(sql) ORDER BY number LIMIT $2::bigint
            """, [.integer(number), .integer(Int64(max(limit, 0)))] + values)
    }

    /// Counts by reason and app.
    static func counts(_ filter: DeadLetterFilter) -> Call {
        let (sql, values) = conditions(filter, from: 1)
        return Call(
            """
            SELECT \(DeadLetterCount.readColumns) FROM apus.dead_letter WHERE true\(sql)
            GROUP BY reason, app ORDER BY reason, app NULLS FIRST
            """, values)
    }

    /// The conditions of a filter; unset fields are not in the statement, so that an index can be used.
    ///
    /// There are few combinations, so the number of prepared statements is bounded.
    private static func conditions(_ filter: DeadLetterFilter, from first: Int) -> (sql: String, values: [Parameter]) {
        var sql = ""
        var values: [Parameter] = []
        func add(_ text: String?, _ condition: (String) -> String) {
            guard let text else { return }
            sql += " AND " + condition("$\(first + values.count)::text")
            values.append(.text(text))
        }
        func add(_ number: Int64?, _ condition: (String) -> String) {
            guard let number else { return }
            sql += " AND " + condition("$\(first + values.count)::bigint")
            values.append(.integer(number))
        }
        // Digits sort before "g", which ends the range of a prefix.
        add(filter.identifierPrefix) { "id >= \($0)" }
        add(filter.identifierPrefix.map { $0 + "g" }) { "id < \($0)" }
        add(filter.reason) { "reason = \($0)" }
        add(filter.app) { "app = \($0)" }
        add(filter.eventType) { "(event_type = \($0) OR right(event_type, length(\($0)) + 1) = '.' || \($0))" }
        add(filter.eventSource) { "event_source = \($0)" }
        add(filter.eventIdentifier) { "event_id = \($0)" }
        add(filter.sinceMilliseconds) { "dead_lettered_at >= \($0)" }
        add(filter.untilMilliseconds) { "dead_lettered_at < \($0)" }
        add(filter.numberMaximum) { "number <= \($0)" }
        return (sql, values)
    }
}
