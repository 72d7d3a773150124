import HTTPServer
import PushServiceSimulator
import Synchronization

/// The two endpoints: requests come on the server's only thread.
final class ADMHandler: HTTPHandler {
    let endpoint: ADMTokenEndpoint
    let script: ScriptBook<RegistrationAnswer>
    /// The requests that get no answer.
    let withheld = WithheldResponders(countMaximum: 1_024)
    private let judge: ADMJudge
    private let nowMilliseconds: @Sendable () -> Int64
    private let identifiers = AcceptedIdentifiers()
    private let books: Mutex<Books>

    private struct Books {
        let log: AnswerLog<RecordedADMMessage, ADMCounts>
        var serving = ServingCounts()
    }

    init(_ configuration: ADMSimulatorConfiguration, recordFile: RecordFile? = nil) {
        nowMilliseconds = configuration.wallClockMilliseconds
        endpoint = ADMTokenEndpoint(configuration)
        script = ScriptBook(configuration.script)
        judge = ADMJudge(configuration, tokens: endpoint.tokens, script: script)
        let recordsMaximum = configuration.recordsInMemoryMaximum
        books = Mutex(
            Books(
                log: AnswerLog(
                    recordsMaximum: recordsMaximum, writer: RecordWriter(file: recordFile, handler: nil))))
    }

    /// The access tokens.
    var tokens: AccessTokens<Void> { endpoint.tokens }

    /// The kept records.
    var records: [RecordedADMMessage] { books.withLock { $0.log.records } }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let now = nowMilliseconds()
        if request.target.rawPath == ADMTokenEndpoint.path {
            return endpoint.answer(request, nowMilliseconds: now).map { .now($0.admResponse) } ?? leftUnanswered()
        }
        let judgement = judge.judge(request, nowMilliseconds: now)
        note(judgement, payload: request.body, nowMilliseconds: now)
        guard let answer = judgement.answer, !judgement.losesAnswer else { return leftUnanswered() }
        return .now(answer.admResponse)
    }

    private func leftUnanswered() -> HTTPAnswer { .held { [self] in withheld.keep($0) } }

    /// The numbers so far.
    func summary() -> ADMSummary {
        var summary = ADMSummary()
        summary.add(books.withLock { $0.log.summary($0.serving) })
        (summary.distinctMessages, summary.isMessageCountComplete) = identifiers.count
        summary.tokens = tokens.counts
        return summary
    }

    /// Notes what became of a message.
    private func note(_ judgement: ADMJudgement, payload: [UInt8], nowMilliseconds: Int64) {
        let isAccepted = judgement.answer?.isAcceptance == true
        let identity = judgement.message?.identity(to: judgement.registrationID) ?? 0
        let isDuplicate = isAccepted && !identifiers.insert(identity)
        let record = RecordedADMMessage(judgement, isDuplicate: isDuplicate, timeMilliseconds: nowMilliseconds)
        books.withLock { books in
            if isDuplicate { books.log.noted.duplicates += 1 }
            if judgement.losesAnswer { books.serving.lostAnswers += 1 }
            if judgement.successor != nil { books.log.noted.replaced += 1 }
            if let answer = judgement.answer {
                books.log.count(status: answer.status, reason: answer.reason)
            } else {
                books.serving.silent += 1
            }
            books.log.add(record) { bytes in
                ADMRecordLine.append(
                    judgement, isDuplicate: isDuplicate, timeMilliseconds: nowMilliseconds, payload: payload,
                    to: &bytes)
            }
            // The line is in the file before the answer leaves; messages are rare enough for a write each.
            books.log.write()
        }
    }
}

extension ServiceAnswer {
    /// A refusal of a message.
    static func adm(_ status: Int, reason: String, retryAfter: String? = nil) -> ServiceAnswer {
        var answer = adm(status: status, body: #"{"reason":"\#(reason)"}"#, retryAfter: retryAfter)
        answer.reason = reason
        return answer
    }

    /// Any answer of one of the endpoints, whose body is JSON or empty.
    static func adm(status: Int, body: String, retryAfter: String? = nil) -> ServiceAnswer {
        ServiceAnswer(
            status: status, body: Array(body.utf8), contentType: "application/json", retryAfter: retryAfter)
    }

    /// The answer as the server takes it.
    fileprivate var admResponse: HTTPResponse {
        var fields = [HTTPField("Content-Type", "application/json"), HTTPField("X-Amzn-RequestId", "simulated")]
        if let retryAfter { fields.append(HTTPField("Retry-After", retryAfter)) }
        return HTTPResponse(status: status, fields: fields, body: body)
    }
}
