import HTTPServer
import PushServiceSimulator
import Synchronization

/// The two endpoints: requests come on the server's only thread.
final class ADMHandler: HTTPHandler {
    /// How many requests may stay without an answer.
    private static let unansweredMaximum = 1_024

    let tokens: ADMAccessTokens
    let script: RegistrationBook
    let log: ADMMessageLog
    private let judge: ADMJudge
    private let configuration: ADMSimulatorConfiguration
    private let unanswered = Mutex<[HTTPResponder]>([])

    init(_ configuration: ADMSimulatorConfiguration, recordFile: RecordFile? = nil) {
        self.configuration = configuration
        tokens = ADMAccessTokens(clients: configuration.clients, lifeSeconds: configuration.accessTokenSeconds)
        tokens.add(configuration.tokenFaults)
        script = RegistrationBook(configuration.script)
        log = ADMMessageLog(recordsMaximum: configuration.recordsInMemoryMaximum, file: recordFile)
        judge = ADMJudge(
            tokens: tokens, script: script, messagesPerSecondMaximum: configuration.messagesPerSecondMaximum,
            rateRetryAfter: configuration.rateRetryAfter)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let now = configuration.wallClockMilliseconds()
        if request.target.rawPath == ADMAccessTokens.path {
            return tokens.answer(request, nowMilliseconds: now).map { .now($0.response) } ?? withheld()
        }
        let judgement = judge.judge(request, nowMilliseconds: now)
        log.note(judgement, payload: request.body, nowMilliseconds: now)
        guard let answer = judgement.answer, !judgement.losesAnswer else { return withheld() }
        return .now(answer.response)
    }

    /// The numbers so far.
    func summary() -> ADMSummary {
        var summary = log.summary
        summary.tokens = tokens.counts
        return summary
    }

    /// Lets go of the requests that were never answered.
    func releaseUnanswered() { unanswered.withLock { $0.removeAll() } }

    private func withheld() -> HTTPAnswer {
        .held { [self] responder in
            unanswered.withLock { responders in
                if responders.count < Self.unansweredMaximum { responders.append(responder) }
            }
        }
    }
}

/// An answer of one of the endpoints.
struct ADMAnswer: Equatable {
    /// The HTTP status.
    var status: Int
    /// The reason in the body; nil for acceptance, or if the body has none.
    var reason: String?
    /// The body: JSON, or empty.
    var body: String
    /// The header `retry-after`.
    var retryAfter: String?

    /// A refusal of a message.
    init(_ status: Int, reason: String, retryAfter: String? = nil) {
        self.init(status: status, reason: reason, body: #"{"reason":"\#(reason)"}"#, retryAfter: retryAfter)
    }

    /// Any answer.
    init(status: Int, reason: String? = nil, body: String, retryAfter: String? = nil) {
        self.status = status
        self.reason = reason
        self.body = body
        self.retryAfter = retryAfter
    }

    /// The answer as the server takes it.
    var response: HTTPResponse {
        var fields = [HTTPField("Content-Type", "application/json")]
        fields.append(HTTPField("X-Amzn-RequestId", "simulated"))
        if let retryAfter { fields.append(HTTPField("Retry-After", retryAfter)) }
        return HTTPResponse(status: status, fields: fields, body: Array(body.utf8))
    }
}
