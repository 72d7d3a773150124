import PushServiceSimulator

/// FCM and the token endpoint on one loop: what is known of accounts and devices, and the books of the loop.
final class FCMService: LoggingService {
    let server: SimulatorServer
    let parts: FCMParts
    let log: AnswerLog<RecordedMessage, FCMCounts>

    private let trustedAnswer: ServiceAnswer

    init(parts: FCMParts, server: SimulatorServer) {
        self.server = server
        self.parts = parts
        log = AnswerLog(server)
        trustedAnswer = .accepted("projects/\(parts.judge.project.id)/messages/0:1%1")
    }

    func makeHandler() -> any RequestHandler { FCMHandler(service: self) }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { server.nowMilliseconds }

    /// Judges a message, and a sender that comes back too soon.
    func judge(_ request: SendRequest, _ read: ReadMessage) -> Judgement {
        parts.judge.judge(request, read, nowMilliseconds: nowMilliseconds)
    }

    /// Answers a request for an access token.
    func answerTokenRequest(method: String, contentType: String?, body: [UInt8]) -> ServiceAnswer {
        guard method == "POST" else { return FCMRefusal.notFoundPage.answer(parts.judge.project) }
        return parts.endpoint.answer(contentType: contentType, body: body, nowMilliseconds: nowMilliseconds)
    }

    /// Notes a message whose answer has been given.
    func answered(_ read: ReadMessage, _ judgement: Judgement, _ answer: ServiceAnswer, payload: [UInt8]) {
        let now = nowMilliseconds
        parts.judge.answered(read, status: answer.status, retryAfter: answer.retryAfter, nowMilliseconds: now)
        var facts = MessageFacts(
            timeMilliseconds: now, message: read.message, status: answer.status, reason: answer.reason,
            name: judgement.name, isDelayed: judgement.isDelayed)
        log.count(status: answer.status, reason: answer.reason)
        if answer.status == 200 {
            let isRecorded = read.message?.isValidateOnly == false
            facts.isDuplicate = isRecorded && !parts.identifiers.insert(read.identity)
            if read.message?.isValidateOnly == true { log.noted.validated += 1 }
            if facts.isDuplicate { log.noted.duplicates += 1 }
            if facts.isDelayed { log.noted.delayed += 1 }
        }
        record(facts, payload)
        server.progress.requestAnswered()
    }

    /// Notes a message that a fault answered.
    func answeredFaultily(_ read: ReadMessage, _ answer: ServiceAnswer, payload: [UInt8]) {
        let now = nowMilliseconds
        parts.judge.answered(read, status: answer.status, retryAfter: answer.retryAfter, nowMilliseconds: now)
        record(
            MessageFacts(timeMilliseconds: now, message: read.message, status: answer.status, reason: answer.reason),
            payload)
    }

    private func record(_ facts: MessageFacts, _ payload: [UInt8]) {
        log.add(RecordedMessage(facts, payload: payload)) { MessageLine.append(facts, payload: payload, to: &$0) }
    }

    /// Sends an answer.
    ///
    /// - Returns: false if the stream or the connection is gone.
    func respond(to request: RequestState, on connection: SimulatorConnection, _ answer: ServiceAnswer) -> Bool {
        server.respond(
            to: request, on: connection, answer,
            challenge: answer.status == 401 ? "Bearer realm=\"https://accounts.google.com/\"" : nil)
    }

    /// Accepts a message unseen.
    func accept(_ request: RequestState, on connection: SimulatorConnection) {
        guard respond(to: request, on: connection, trustedAnswer) else { return }
        log.count(status: 200, reason: nil)
        server.progress.requestAnswered()
    }
}

/// The common state of the loops, beside what they share with the simulators of other services.
struct FCMParts: Sendable {
    let judge: MessageJudge
    let endpoint: TokenEndpoint
    let identifiers = AcceptedIdentifiers()

    init(_ configuration: FCMSimulatorConfiguration, accounts: [String: TokenEndpoint.Account]) {
        judge = MessageJudge(configuration, accounts: accounts)
        endpoint = TokenEndpoint(
            accounts: accounts, tokens: judge.tokens, lifeSeconds: configuration.accessTokenSeconds,
            isTrusting: configuration.serving.isTrusting)
    }
}
