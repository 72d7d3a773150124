public import PushCore

extension SQLiteRegistry: DeadLetterRegistry {
    private static let columns = """
        number, id, reason, detail, app, event_source, event_id, event_type, attempts, first_seen_at,
        dead_lettered_at, body_bytes
        """
    /// Keeps letters in their order.
    public func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                INSERT INTO dead_letter (
                    id, reason, detail, app, event_source, event_id, event_type, attempts, first_seen_at,
                    dead_lettered_at, body_bytes, envelope, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
                """)
            var addedCount = 0
            for letter in letters {
                let summary = letter.summary
                let texts = [
                    summary.identifier, summary.reason, summary.detail, summary.app, summary.eventSource,
                    summary.eventIdentifier, summary.eventType,
                ]
                for (index, text) in texts.enumerated() { statement.bind(Int32(index) + 1, text) }
                statement.bind(8, summary.attempts)
                statement.bind(9, summary.firstSeenMilliseconds)
                statement.bind(10, summary.deadLetteredMilliseconds)
                statement.bind(11, Int64(summary.bodySizeBytes))
                statement.bind(12, String(decoding: letter.message.envelope, as: UTF8.self))
                statement.bind(13, letter.message.body)
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
            SELECT \(Self.columns) FROM dead_letter WHERE number > ?1\(conditions.map { " AND " + $0.sql }.joined())
            ORDER BY number LIMIT ?2
            """)
        statement.bind(1, number)
        statement.bind(2, Int64(max(limit, 0)))
        for condition in conditions { condition.bind(statement) }
        var letters: [DeadLetterSummary] = []
        try statement.forEachRow { row in letters.append(Self.summary(row)) }
        return letters
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        let conditions = Self.conditions(filter, from: 1)
        let statement = try statements.statement(
            """
            SELECT reason, app, count(*), min(dead_lettered_at) FROM dead_letter
            WHERE true\(conditions.map { " AND " + $0.sql }.joined()) GROUP BY reason, app ORDER BY reason, app
            """)
        for condition in conditions { condition.bind(statement) }
        var counts: [DeadLetterCount] = []
        try statement.forEachRow { row in
            counts.append(
                DeadLetterCount(
                    reason: row.text(0), app: row.optionalText(1), count: Int(row.integer(2)),
                    oldestMilliseconds: row.integer(3)))
        }
        return counts
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement("SELECT envelope, body, id FROM dead_letter WHERE number = ?")
            var messages: [Int64: Message] = [:]
            for number in numbers {
                statement.bind(1, number)
                try statement.forEachRow { row throws(RegistryError) in
                    guard let message = Message(envelope: row.bytes(0), body: row.bytes(1)) else {
                        throw RegistryError(
                            .corrupt,
                            RegistryError.corruptMessage(
                                path: connection.path, reason: "the envelope of the dead letter \(row.text(2))"))
                    }
                    messages[number] = message
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

    /// What a filter asks for: only what it gives is in the statement, so that an index can be used.
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
        return conditions
    }

    private static func summary(_ row: Statement) -> DeadLetterSummary {
        var summary = DeadLetterSummary(
            identifier: row.text(1), reason: row.text(2), deadLetteredMilliseconds: row.integer(10),
            bodySizeBytes: Int(row.integer(11)), number: row.integer(0))
        summary.detail = row.optionalText(3)
        summary.app = row.optionalText(4)
        summary.eventSource = row.optionalText(5)
        summary.eventIdentifier = row.optionalText(6)
        summary.eventType = row.optionalText(7)
        summary.attempts = row.optionalInteger(8)
        summary.firstSeenMilliseconds = row.optionalInteger(9)
        return summary
    }
}
