import Essentials
import EventLoop
import HTTP2
import PushServiceSimulator

/// FCM and the token endpoint on one loop: what is known of accounts and devices, and the books of the loop.
final class FCMService: SimulatedService {
    let server: SimulatorServer
    let parts: FCMParts
    let log: MessageLog

    private var headers = HeaderBlock()
    private var date: (seconds: Int64, text: [UInt8]) = (0, [])
    private let trustedAnswer: FCMAnswer

    init(parts: FCMParts, server: SimulatorServer) {
        self.server = server
        self.parts = parts
        log = MessageLog(server.configuration, writer: server.records)
        trustedAnswer = FCMAnswer(accepted: "projects/\(parts.judge.project.id)/messages/0:1%1")
    }

    func makeHandler() -> any RequestHandler { FCMHandler(service: self) }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { server.configuration.wallClockMilliseconds() }

    /// Judges a message, and a sender that comes back too soon.
    func judge(_ request: SendRequest, _ read: ReadMessage) -> Judgement {
        parts.judge.judge(request, read, nowMilliseconds: nowMilliseconds)
    }

    /// Answers a request for an access token.
    func answerTokenRequest(method: String, contentType: String?, body: [UInt8]) -> FCMAnswer {
        guard method == "POST" else { return FCMRefusal.notFoundPage.answer(parts.judge.project) }
        return parts.endpoint.answer(contentType: contentType, body: body, nowMilliseconds: nowMilliseconds)
    }

    /// Notes a message whose answer has been given.
    func answered(_ read: ReadMessage, _ judgement: Judgement, _ answer: FCMAnswer, payload: [UInt8]) {
        let now = nowMilliseconds
        parts.judge.answered(read, status: answer.status, retryAfter: answer.retryAfter, nowMilliseconds: now)
        var facts = MessageFacts(
            timeMilliseconds: now, message: read.message, status: answer.status, reason: answer.reason,
            name: judgement.name, isDelayed: judgement.isDelayed)
        log.count(status: answer.status, reason: answer.reason)
        if answer.status == 200 {
            let isRecorded = read.message?.isValidateOnly == false
            facts.isDuplicate = isRecorded && !parts.identifiers.insert(read.identity)
            log.accepted(facts)
        }
        log.record(facts, payload: payload)
        server.progress.requestAnswered()
    }

    /// Notes a message that a fault answered.
    func answeredFaultily(_ read: ReadMessage, _ answer: FaultyAnswer, payload: [UInt8]) {
        let now = nowMilliseconds
        parts.judge.answered(read, status: answer.status, retryAfter: answer.retryAfter, nowMilliseconds: now)
        log.record(
            MessageFacts(
                timeMilliseconds: now, message: read.message, status: answer.status, reason: answer.reason),
            payload: payload)
    }

    /// Sends an answer.
    ///
    /// - Returns: false if the stream or the connection is gone.
    func respond(to request: RequestState, on connection: SimulatorConnection, _ answer: FCMAnswer) -> Bool {
        headers.removeAll()
        headers.add(":status", value: answer.status)
        headers.add("content-type", value: answer.type.rawValue)
        headers.add("date", value: dateText())
        if answer.status == 401 {
            headers.add("www-authenticate", value: "Bearer realm=\"https://accounts.google.com/\"")
        }
        if let retryAfter = answer.retryAfter { headers.add("retry-after", value: retryAfter) }
        return connection.respond(to: request, headers, body: answer.body)
    }

    /// Accepts a message unseen.
    func accept(_ request: RequestState, on connection: SimulatorConnection) {
        guard respond(to: request, on: connection, trustedAnswer) else { return }
        log.count(status: 200, reason: nil)
        server.progress.requestAnswered()
    }

    private func dateText() -> [UInt8] {
        let seconds = nowMilliseconds / 1_000
        if seconds != date.seconds || date.text.isEmpty { date = (seconds, Array(HTTPDate.text(seconds).utf8)) }
        return date.text
    }
}

/// The common state of the loops, beside what they share with the simulators of other services.
struct FCMParts: Sendable {
    let judge: MessageJudge
    let endpoint: TokenEndpoint
    let identifiers = AcceptedIdentifiers()
}
