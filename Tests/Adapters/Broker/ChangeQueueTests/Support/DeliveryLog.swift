import ChangeEvents
import PushTestKit

/// Takes deliveries and states, and lets tests wait for them.
final class DeliveryLog: DeliveryHandler {
    struct State: Sendable {
        var deliveries: [Delivery] = []
        var states: [DeliverySourceState] = []

        var lastState: DeliverySourceState? { states.last }
        var epoch: UInt32 {
            for state in states.reversed() { if case .consuming(let epoch) = state { return epoch } }
            return 0
        }
        var isMisconfigured: Bool { if case .misconfigured = states.last { true } else { false } }
        var isConsuming: Bool { if case .consuming = states.last { true } else { false } }
    }

    let state = Watched(State())
    private let reaction: @Sendable ([Delivery]) -> Void

    init(reaction: @escaping @Sendable ([Delivery]) -> Void = { _ in }) { self.reaction = reaction }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        // First, so that a waiter for the deliveries finds the reaction to all of them done.
        reaction(deliveries)
        state.update { $0.deliveries += deliveries }
    }

    func sourceStateChanged(_ newState: DeliverySourceState) { state.update { $0.states.append(newState) } }
}

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
