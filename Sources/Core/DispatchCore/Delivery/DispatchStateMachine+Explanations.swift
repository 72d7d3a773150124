import Essentials
import Notifications
import RegistryCore

/// The explanations of push services for pushes that they do not take.
extension DispatchStateMachine {
    /// The words of the service about a push, as a sentence to append; empty if there are none.
    func explained(_ outcome: AttemptOutcome, _ push: Push, _ work: DispatchJob) -> String {
        guard let explanation = explanation(outcome, push, work) else { return "" }
        return " \(work.renderings[push.rendering].app.service.title) says: \(explanation)"
    }

    /// Notes what a service says about a push that is tried again, for the log; a dead letter has the words itself.
    mutating func noteExplanation(
        _ disposition: Disposition, _ outcome: AttemptOutcome, _ push: Push, _ work: DispatchJob,
        into actions: inout DispatchActions
    ) {
        switch disposition {
        case .accepted, .tokenDead, .deadLetter: return
        case .tokenRejected, .retry, .keyRejected, .resend, .resendPossibleDuplicate: break
        }
        guard case .answered(let answer) = outcome, let explanation = explanation(outcome, push, work),
            explanations.admits(explanation, app: push.app, at: latest.monotonic)
        else { return }
        let reason = answer.reason.isEmpty ? "status-\(answer.status)" : answer.reason
        actions.notices.append(.explained(app: push.app, reason: reason, explanation: explanation))
    }

    private func explanation(_ outcome: AttemptOutcome, _ push: Push, _ work: DispatchJob) -> String? {
        guard case .answered(let answer) = outcome, let explanation = answer.explanation else { return nil }
        let device = work.devices[push.device]
        return device.token.hidden(in: explanation, for: device.platform)
    }
}

/// Bounds how often explanations are logged, for each app by itself: a service in trouble explains each push.
struct ExplanationLimiter: Sendable {
    /// When the same explanation is logged again, in milliseconds.
    static let repetitionMilliseconds: UInt64 = 60_000
    /// When another explanation is logged at the earliest, in milliseconds.
    static let intervalMilliseconds: UInt64 = 1_000

    private var last: [Int: (explanation: String, at: MonotonicTime)] = [:]

    /// Whether an explanation is to be logged now; if so, it counts as logged.
    mutating func admits(_ explanation: String, app: Int, at now: MonotonicTime) -> Bool {
        if let last = last[app] {
            let interval = last.explanation == explanation ? Self.repetitionMilliseconds : Self.intervalMilliseconds
            guard now >= last.at.advanced(byMilliseconds: interval) else { return false }
        }
        last[app] = (explanation, now)
        return true
    }
}
