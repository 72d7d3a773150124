import DispatchCore
import RegistryCore

/// Keeps outcomes for the history of events.
extension RegistryResponder {
    static let forgettingIntervalMilliseconds: Int64 = 1_000

    /// Keeps outcomes, and forgets some that are too old or too many, once a second at most.
    ///
    /// More are forgotten in a second than can be kept, so the number stays bounded.
    func keep(_ outcomes: [KeptOutcome]) throws(RegistryError) {
        let now = nowMilliseconds()
        try registry.keepOutcomes(outcomes, atMilliseconds: now)
        guard now >= forgetsOutcomesAtMilliseconds else { return }
        let removedCount = try registry.forgetOutcomes(
            beforeMilliseconds: now - limits.historyMilliseconds, outcomesMaximum: limits.historyOutcomesMaximum,
            limit: OutcomeHistoryRules.rowsForgottenAtOnce)
        // As long as there is more to forget, each request forgets some.
        guard removedCount < OutcomeHistoryRules.rowsForgottenAtOnce else { return }
        forgetsOutcomesAtMilliseconds = now + Self.forgettingIntervalMilliseconds
    }
}
