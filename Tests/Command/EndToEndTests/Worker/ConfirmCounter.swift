import PushCore
import PushTestKit

/// Counts the messages that the broker has confirmed.
final class ConfirmCounter: PublishHandler {
    let confirmed = Watched(0)

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        let count = outcomes.count { $0.outcome == .confirmed }
        confirmed.update { $0 += count }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {}
}
