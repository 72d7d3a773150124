import HTTPServer
import Synchronization

/// The judgement of a message.
struct ADMJudgement {
    /// The answer; nil if none is given.
    var answer: ADMAnswer?
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

    private let tokens: ADMAccessTokens
    private let script: RegistrationBook
    private let messagesPerSecondMaximum: Int?
    private let rateRetryAfter: String?
    private let window = Mutex(Window())

    init(tokens: ADMAccessTokens, script: RegistrationBook, messagesPerSecondMaximum: Int?, rateRetryAfter: String?) {
        self.tokens = tokens
        self.script = script
        self.messagesPerSecondMaximum = messagesPerSecondMaximum
        self.rateRetryAfter = rateRetryAfter
    }

    /// Judges a request.
    func judge(_ request: HTTPRequest, nowMilliseconds now: Int64) -> ADMJudgement {
        var judgement = ADMJudgement()
        let parts = request.target.segments
        guard request.method == "POST", parts.count == 4, parts[0] == "messaging", parts[1] == "registrations",
            parts[3] == "messages"
        else {
            judgement.answer = ADMAnswer(status: 404, body: "")
            return judgement
        }
        judgement.registrationID = parts[2]
        guard isAuthorized(request, now) else {
            judgement.answer = ADMAnswer(401, reason: "AccessTokenExpired")
            return judgement
        }
        if let refusal = headerRefusal(request) {
            judgement.answer = refusal
            return judgement
        }
        switch ADMDecodedMessage.read(request.body) {
        case .failure(let refusal): judgement.answer = refusal.answer
        case .success(let message):
            judgement.message = message
            judgeRegistration(&judgement, now)
        }
        return judgement
    }

    private func judgeRegistration(_ judgement: inout ADMJudgement, _ now: Int64) {
        guard judgement.registrationID.hasPrefix(Self.registrationPrefix) else {
            judgement.answer = ADMAnswer(400, reason: "InvalidRegistrationId")
            return
        }
        guard isWithinRate(now) else {
            judgement.answer = ADMAnswer(429, reason: "MaxRateExceeded", retryAfter: rateRetryAfter)
            return
        }
        var current = judgement.registrationID
        switch script.nextStep(for: judgement.registrationID)?.answer {
        case .silence: return
        case .refuse(let answer):
            judgement.answer = answer
            return
        case .lose: judgement.losesAnswer = true
        case .replace(let successor):
            current = successor
            judgement.successor = successor
        case .accept, nil: break
        }
        judgement.answer = ADMAnswer(status: 200, body: #"{"registrationID":"\#(current)"}"#)
    }

    private func isAuthorized(_ request: HTTPRequest, _ now: Int64) -> Bool {
        guard let authorization = request.field("authorization"), authorization.hasPrefix("Bearer ") else {
            return false
        }
        return tokens.isGood(String(authorization.dropFirst(7)), nowMilliseconds: now)
    }

    private func headerRefusal(_ request: HTTPRequest) -> ADMAnswer? {
        guard request.field("x-amzn-type-version") == Self.typeVersion,
            request.field("x-amzn-accept-type") == Self.acceptType
        else { return ADMAnswer(400, reason: "InvalidType") }
        let type = request.field("content-type")?.split(separator: ";").first.map { $0.lowercased() }
        guard type == "application/json", request.field("accept") == "application/json" else {
            return ADMAnswer(400, reason: "InvalidData")
        }
        return nil
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
