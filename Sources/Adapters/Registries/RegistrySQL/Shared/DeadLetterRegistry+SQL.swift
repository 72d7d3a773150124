public import Messages
public import RegistryCore

extension DeadLetterRegistry where Self: SQLStore {
    /// Keeps letters in their order.
    public func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        guard !letters.isEmpty else { return 0 }
        let names = DeadLetter.storedColumns.names()
        return try write(
            durable: true,
            """
            INSERT INTO \(table: "dead_letter") (\(sql: names))
            SELECT \(sql: names) FROM \(rows: DeadLetter.storedColumns, of: letters) WHERE true ORDER BY r.k
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// Letters in the order in which they were added.
    public func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary] {
        var statement: SQLStatement =
            "SELECT \(sql: DeadLetterSummary.readColumns) FROM \(table: "dead_letter") WHERE number > \(number)"
        statement += filter.conditions
        statement += " ORDER BY number LIMIT \(Int64(max(limit, 0)))"
        return try ask(statement) { DeadLetterSummary($0) }
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        var statement: SQLStatement =
            "SELECT \(sql: DeadLetterCount.readColumns) FROM \(table: "dead_letter") WHERE true"
        statement += filter.conditions
        statement += " GROUP BY reason, app ORDER BY reason, app NULLS FIRST"
        return try ask(statement) { DeadLetterCount($0) }
    }

    /// The number of the newest letter.
    public func newestDeadLetterNumber() throws(RegistryError) -> Int64 {
        try ask("SELECT max(number) FROM \(table: "dead_letter")") { $0.integer(0) }.first ?? 0
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        let rows = try ask(
            "SELECT \(sql: Message.readColumns) FROM \(table: "dead_letter") WHERE number \(among: numbers)"
        ) { (row) throws(RegistryError) in (row.integer(0), try Message(deadLetter: row)) }
        return Dictionary(rows) { first, _ in first }
    }

    /// Removes letters by their numbers.
    public func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int {
        try write(durable: true, "DELETE FROM \(table: "dead_letter") WHERE number \(among: numbers)")
    }
}

extension DeadLetterFilter {
    /// The conditions of the filter; unset fields are not in the statement, so that an index can be used.
    fileprivate var conditions: SQLStatement {
        var all: SQLStatement = ""
        func add<Value>(_ value: Value?, _ condition: (Value) -> SQLStatement) {
            guard let value else { return }
            all += " AND "
            all += condition(value)
        }
        // Digits sort before "g", which ends the range of a prefix.
        add(identifierPrefix) { "id >= \($0) AND id < \($0 + "g")" }
        add(reason) { "reason = \($0)" }
        add(app) { "app = \($0)" }
        add(eventType) { type in
            """
            (event_type = \(type) OR substr(event_type, length(event_type) - length(\(type))) = '.' || \(type))
            """
        }
        add(eventSource) { "event_source = \($0)" }
        add(eventIdentifier) { "event_id = \($0)" }
        add(sinceMilliseconds) { "dead_lettered_at >= \($0)" }
        add(untilMilliseconds) { "dead_lettered_at < \($0)" }
        add(numberMaximum) { "number <= \($0)" }
        return all
    }
}
