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
        let rows = try ask([DeadLetterCalls.page(filter, after: number, limit: limit)])[0]
        return (0..<rows.count).map { row in
            var summary = DeadLetterSummary(
                identifier: rows.text(row, 1), reason: rows.text(row, 2),
                deadLetteredMilliseconds: rows.integer(row, 10), bodySizeBytes: Int(rows.integer(row, 11)),
                number: rows.integer(row, 0))
            summary.detail = rows.optionalText(row, 3)
            summary.app = rows.optionalText(row, 4)
            summary.eventSource = rows.optionalText(row, 5)
            summary.eventIdentifier = rows.optionalText(row, 6)
            summary.eventType = rows.optionalText(row, 7)
            summary.attempts = rows.optionalInteger(row, 8)
            summary.firstSeenMilliseconds = rows.optionalInteger(row, 9)
            return summary
        }
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        let rows = try ask([DeadLetterCalls.counts(filter)])[0]
        return (0..<rows.count).map { row in
            DeadLetterCount(
                reason: rows.text(row, 0), app: rows.optionalText(row, 1), count: Int(rows.integer(row, 2)),
                oldestMilliseconds: rows.integer(row, 3))
        }
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        let call = Call(
            "SELECT number, envelope, body, id FROM dead_letter WHERE number = ANY ($1::bigint[])",
            [.integers(numbers)])
        let rows = try ask([call])[0]
        var messages: [Int64: Message] = [:]
        for row in 0..<rows.count {
            guard let message = Message(envelope: Array(rows.bytes(row, 1)), body: Array(rows.bytes(row, 2))) else {
                throw RegistryError.corruptRow(place, "the envelope of the dead letter \(rows.text(row, 3))")
            }
            messages[rows.integer(row, 0)] = message
        }
        return messages
    }

    /// Removes letters by their numbers.
    public func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call("DELETE FROM dead_letter WHERE number = ANY ($1::bigint[])", [.integers(numbers)])
            return try transaction.commit([call])[0].affectedCount
        }
    }
}
