public import Messages
public import RegistryCore

/// The dead letters of a registry in memory, in their order.
struct InMemoryDeadLetters {
    var letters: [DeadLetter] = []
    var lastNumber: Int64 = 0
}

extension InMemoryRegistry: DeadLetterRegistry {
    /// Keeps letters in their order.
    public func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        try check()
        let countBefore = deadLetters.letters.count
        for var letter in letters {
            let isThere = deadLetters.letters.contains { $0.summary.identifier == letter.summary.identifier }
            guard !isThere else { continue }
            deadLetters.lastNumber += 1
            letter.summary.number = deadLetters.lastNumber
            deadLetters.letters.append(letter)
        }
        return deadLetters.letters.count - countBefore
    }

    /// Letters in the order in which they were added.
    public func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary] {
        try check()
        let found = deadLetters.letters.map(\.summary).filter { $0.number > number && filter.includes($0) }
        return Array(found.prefix(limit))
    }

    /// How many letters there are of each reason and app.
    public func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] {
        try check()
        let groups = Dictionary(grouping: deadLetters.letters.map(\.summary).filter(filter.includes)) { letter in
            [letter.reason, letter.app.map { "1" + $0 } ?? ""]
        }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { _, letters in
            DeadLetterCount(
                reason: letters[0].reason, app: letters[0].app, count: letters.count,
                oldestMilliseconds: letters.map(\.deadLetteredMilliseconds).min() ?? 0)
        }
    }

    /// The number of the newest letter; 0 if there is none.
    public func newestDeadLetterNumber() throws(RegistryError) -> Int64 {
        try check()
        return deadLetters.letters.last?.summary.number ?? 0
    }

    /// The messages of letters by their numbers.
    public func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] {
        try check()
        let found = deadLetters.letters.filter { numbers.contains($0.summary.number) }
        return Dictionary(found.map { ($0.summary.number, $0.message) }, uniquingKeysWith: { first, _ in first })
    }

    /// Removes letters by their numbers.
    public func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int {
        try check()
        let countBefore = deadLetters.letters.count
        deadLetters.letters.removeAll { numbers.contains($0.summary.number) }
        return countBefore - deadLetters.letters.count
    }
}
