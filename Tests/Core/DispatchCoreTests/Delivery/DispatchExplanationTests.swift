import ChangeEvents
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("What becomes of the words of a push service")
struct DispatchExplanationTests {
    private var machine = Samples.machine()
    private var actions = DispatchActions()

    private mutating func answer(_ answers: [PushAnswer], attempt: Int = 0, now: Int64 = 0) {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: now)
        retryState.attempt = attempt
        let devices = answers.indices.map { Samples.device("device-\($0)") }
        machine.jobArrived(Samples.job(devices: devices, retryState: retryState), into: &actions)
        machine.sendWaiting(at: Samples.moment(now), into: &actions)
        for (request, answer) in zip(actions.sends, answers) {
            machine.pushEnded(
                AttemptResult(identifier: request.identifier, outcome: .answered(answer), durationNanoseconds: 0),
                at: Samples.moment(now), into: &actions)
        }
        actions.sends = []
    }

    private var details: [String] {
        actions.publishes.compactMap { publish in
            if case .string(let text) = publish.message.header(RetryHeader.detail) { text } else { nil }
        }
    }

    private var explanations: [String] {
        actions.notices.compactMap { if case .explained(_, _, let explanation) = $0 { explanation } else { nil } }
    }

    @Test("A dead letter has the words of the service, and those of many devices are one letter all the same")
    mutating func deadLetter() {
        answer(
            (0..<3).map { PushAnswer(status: 400, reason: "BadTopic", explanation: "Request \($0) names no topic.") })
        #expect(details.count == 1)
        #expect(details[0].hasSuffix("correct the event or the configuration. APNs says: Request 0 names no topic."))
        #expect(explanations.isEmpty, "the line of the dead letter has them")
    }

    @Test("A dead letter of spent attempts has the words of the last answer")
    mutating func exhausted() {
        answer([PushAnswer(status: 429, explanation: "Slow down.")], attempt: 100)
        #expect(details.count == 1 && details[0].hasSuffix("APNs says: Slow down."), "\(details)")
    }

    @Test("The words about a push that is tried again are logged once, and other words a second later")
    mutating func logged() {
        let outage = PushAnswer(status: 503, explanation: "Overloaded.")
        answer(Array(repeating: outage, count: 50))
        #expect(explanations == ["Overloaded."])
        answer([PushAnswer(status: 503, explanation: "Elsewhere.")], now: 999)
        #expect(explanations == ["Overloaded."])
        answer([PushAnswer(status: 503, explanation: "Elsewhere."), outage], now: 1_000)
        #expect(explanations == ["Overloaded.", "Elsewhere."])
        answer([PushAnswer(status: 503, explanation: "Elsewhere.")], now: 60_999)
        #expect(explanations.count == 2)
        answer([PushAnswer(status: 503, explanation: "Elsewhere.")], now: 61_000)
        #expect(explanations.count == 3)
    }

    @Test("The words about a refused key are logged with the reason, and without the token of the device")
    mutating func key() {
        let token = Samples.device("device-0").token.hexadecimal
        answer([PushAnswer(status: 403, reason: "Forbidden", explanation: "Not for \(token).")])
        guard case .explained(let app, let reason, let explanation) = actions.notices.first(where: Self.isExplanation)
        else {
            Issue.record("nothing is explained: \(actions.notices)")
            return
        }
        #expect(app == 0 && reason == "Forbidden")
        #expect(explanation.hasPrefix("Not for ") && !explanation.contains(token))
    }

    private static func isExplanation(_ notice: DispatchActions.Notice) -> Bool {
        if case .explained = notice { true } else { false }
    }
}
