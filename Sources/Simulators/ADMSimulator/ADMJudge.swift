import HTTPServer
import PushServiceSimulator
import Synchronization

/// The judgement of a message.
struct ADMJudgement {
    /// The answer; nil if none is given.
    var answer: ServiceAnswer?
    /// Whether the message is accepted and the answer does not come.
    var losesAnswer = false
    /// The registration ID that the answer has in its place; nil if it has the same.
    var successor: String?
    /// The registration ID in the path; empty if there is none.
    var registrationID = ""
    /// The message; nil if it could not be read.
    var message: ADMDecodedMessage?
}

/// ADM's decisions: path, sender, headers, message, registration ID.
///
/// Source: Amazon, "Send a message" (ADM). In which order Amazon looks is not known.
final class ADMJudge: Sendable {
    private struct Window {
        var second: Int64 = 0
        var count = 0
    }

    /// How registration IDs begin (Amazon, "Integrate Your App", and the samples of clients).
    static let registrationPrefix = "amzn1.adm-registration."
    private static let typeVersion = "com.amazon.device.messaging.ADMMessage@1.0"
    private static let acceptType = "com.amazon.device.messaging.ADMSendResult@1.0"

    private let tokens: AccessTokens<Void>
    private let script: ScriptBook<RegistrationAnswer>
    private let messagesPerSecondMaximum: Int?
    private let rateRetryAfter: String?
    private let window = Mutex(Window())

    init(
        _ configuration: ADMSimulatorConfiguration, tokens: AccessTokens<Void>, script: ScriptBook<RegistrationAnswer>
    ) {
        self.tokens = tokens
        self.script = script
        messagesPerSecondMaximum = configuration.messagesPerSecondMaximum
        rateRetryAfter = configuration.rateRetryAfter
    }

    /// Judges a request.
    func judge(_ request: HTTPRequest, nowMilliseconds now: Int64) -> ADMJudgement {
        var judgement = ADMJudgement()
        do throws(ADMRefusal) {
            judgement.answer = try answer(request, &judgement, now)
        } catch {
            judgement.answer = error.answer
        }
        return judgement
    }

    private func answer(
        _ request: HTTPRequest, _ judgement: inout ADMJudgement, _ now: Int64
    ) throws(ADMRefusal) -> ServiceAnswer? {
        let parts = request.target.segments
        guard request.method == "POST", parts.count == 4, parts[0] == "messaging", parts[1] == "registrations",
            parts[3] == "messages"
        else { throw ADMRefusal(.adm(status: 404, body: "")) }
        let registrationID = parts[2]
        judgement.registrationID = registrationID
        guard isAuthorized(request, now) else { throw ADMRefusal(401, "AccessTokenExpired") }
        guard request.field("x-amzn-type-version") == Self.typeVersion,
            request.field("x-amzn-accept-type") == Self.acceptType
        else { throw ADMRefusal(400, "InvalidType") }
        guard request.mediaType == "application/json", request.field("accept") == "application/json" else {
            throw ADMRefusal(400, "InvalidData")
        }
        judgement.message = try ADMDecodedMessage(request.body)
        guard registrationID.hasPrefix(Self.registrationPrefix) else { throw ADMRefusal(400, "InvalidRegistrationId") }
        guard isWithinRate(now) else {
            throw ADMRefusal(.adm(429, reason: "MaxRateExceeded", retryAfter: rateRetryAfter))
        }
        switch script.nextStep(for: registrationID)?.answer {
        case .silence: return nil
        case .refuse(let answer): return answer
        case .lose: judgement.losesAnswer = true
        case .replace(let successor): judgement.successor = successor
        case .accept, nil: break
        }
        return .adm(status: 200, body: #"{"registrationID":"\#(judgement.successor ?? registrationID)"}"#)
    }

    private func isAuthorized(_ request: HTTPRequest, _ now: Int64) -> Bool {
        guard let value = request.field("authorization"), value.hasPrefix("Bearer ") else { return false }
        return tokens.grant(of: String(value.dropFirst(7)), nowMilliseconds: now) != nil
    }

    private func isWithinRate(_ now: Int64) -> Bool {
        guard let messagesPerSecondMaximum else { return true }
        return window.withLock { window in
            if window.second != now / 1_000 { window = Window(second: now / 1_000) }
            window.count += 1
            return window.count <= messagesPerSecondMaximum
        }
    }
}
