import PushCore
import PushTestKit

/// Takes the outcomes of publishes, and lets tests wait for them.
final class OutcomeLog: PublishHandler {
    struct State: Sendable {
        var outcomes: [UInt64: PublishOutcome] = [:]
        /// How many outcomes came for a message that had one already.
        var surplusCount = 0
        var isReady = false
        var reasons: [String] = []
    }

    let state = Watched(State())

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        state.update { state in
            for (identifier, outcome) in outcomes
            where state.outcomes.updateValue(outcome, forKey: identifier) != nil { state.surplusCount += 1 }
        }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        state.update {
            $0.isReady = isReady
            $0.reasons.append(reason)
        }
    }
}
