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

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        let call = Call(
            "SELECT \(Message.readColumns) FROM dead_letter WHERE number = ANY ($1::bigint[])", [.integers(numbers)])
        var messages: [Int64: Message] = [:]
        for row in try ask([call])[0] { messages[row.integer(0)] = try Message(deadLetter: row) }
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
