import Essentials
public import RegistryCore

/// The kept outcomes of a registry in memory, the oldest first.
struct InMemoryHistory {
    var outcomes: [(number: Int, milliseconds: Int64, outcome: KeptOutcome)] = []
    var lastNumber = 0
    var waiting: [(number: Int64, outcome: WaitingOutcome)] = []
    var lastWaiting: Int64 = 0
    var takenAt: [Int64: Int64] = [:]
}

extension InMemoryRegistry: OutcomeHistoryRegistry {
    /// Keeps outcomes.
    public func keepOutcomes(
        _ outcomes: [KeptOutcome], atMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        try check()
        for outcome in outcomes.sorted(by: { $0.identifier < $1.identifier })
        where !history.outcomes.contains(where: { $0.outcome.identifier == outcome.identifier }) {
            history.lastNumber += 1
            history.outcomes.append((history.lastNumber, milliseconds, outcome))
        }
    }

    /// The bodies of the outcomes of the events with an identifier.
    public func keptOutcomes(ofEvent identifier: String, limit: Int) throws(RegistryError) -> [[UInt8]] {
        try check()
        return history.outcomes.lazy.map(\.outcome).filter { $0.eventIdentifier.hasBytes(of: identifier) }
            .prefix(max(0, limit)).map(\.body)
    }

    /// Forgets outcomes that are too old or too many.
    public func forgetOutcomes(
        beforeMilliseconds milliseconds: Int64, outcomesMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> Int {
        try check()
        let first = history.lastNumber - maximum
        let old = history.outcomes.prefix(limit).filter { $0.milliseconds < milliseconds || $0.number <= first }
        let numbers = Set(old.map(\.number))
        history.outcomes.removeAll { numbers.contains($0.number) }
        return old.count
    }
}

extension InMemoryRegistry: OutcomeOutboxRegistry {
    /// Adds outcomes.
    public func addWaitingOutcomes(_ outcomes: [WaitingOutcome]) throws(RegistryError) {
        try check()
        guard Int64(history.waiting.count + outcomes.count) <= OutcomeHistoryRules.waitingMaximum else {
            throw RegistryError(.quotaExceeded, "too many outcomes wait")
        }
        for outcome in outcomes {
            history.lastWaiting += 1
            history.waiting.append((history.lastWaiting, outcome))
        }
    }

    /// Takes outcomes that wait.
    public func takeWaitingOutcomes(
        limit: Int, atMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [(number: Int64, outcome: WaitingOutcome)] {
        try check()
        let free = milliseconds - OutcomeHistoryRules.takenMilliseconds
        let taken = history.waiting.filter { (history.takenAt[$0.number] ?? 0) < free }.prefix(max(0, limit))
        for outcome in taken { history.takenAt[outcome.number] = milliseconds }
        return Array(taken)
    }

    /// Removes outcomes.
    public func removeWaitingOutcomes(_ numbers: [Int64]) throws(RegistryError) {
        try check()
        history.waiting.removeAll { numbers.contains($0.number) }
    }
}
