import PushServiceSimulator

/// The request headers that FCM and the token endpoint look at.
enum FCMRequestField: Int {
    case method, path, authorization, contentType

    /// The names on the wire, in the order of the cases; HTTP/2 has lowercase names only (RFC 9113, section 8.2).
    static let names: [StaticString] = [":method", ":path", "authorization", "content-type"]
}

/// The state of a request until it is answered.
final class RequestNote {
    /// A request for an access token, which is under way as long as its note is there.
    final class TokenFetch {
        private let tokens: AccessTokens<FCMGrant>

        init(_ tokens: AccessTokens<FCMGrant>) {
            self.tokens = tokens
            tokens.fetchBegan()
        }

        deinit { tokens.fetchEnded() }
    }

    /// The message; nil if an access token is asked for.
    let read: ReadMessage?
    var judgement = Judgement()
    private let fetch: TokenFetch?

    init(_ read: ReadMessage?, fetch: TokenFetch? = nil) {
        self.read = read
        self.fetch = fetch
    }
}

/// Judges the requests of one connection.
final class FCMHandler: RequestHandler {
    private let service: FCMService

    init(service: FCMService) { self.service = service }

    /// As if the connection would not take any access token any more.
    var wedgedAnswer: ServiceAnswer { FCMRefusal.accessTokenExpired.answer(service.parts.judge.project) }

    func requestCompleted(_ request: RequestState, on connection: SimulatorConnection) {
        let path = Self.text(request, .path) ?? ""
        if path == TokenEndpoint.path { return tokenRequested(request, on: connection) }
        guard !service.server.configuration.isTrusting else {
            return service.server.answerUnseen(request, on: connection)
        }
        let read = ReadMessage(request.payload)
        service.parts.judge.came(read, nowMilliseconds: service.nowMilliseconds)
        let note = RequestNote(read)
        request.note = note
        if service.server.befall(request, on: connection, token: { read.token }) { return }
        note.judgement = service.judge(
            SendRequest(
                method: Self.text(request, .method) ?? "", path: path,
                authorization: Self.text(request, .authorization), contentType: Self.text(request, .contentType),
                body: request.payload), read)
        if note.judgement.losesAnswer { request.loseAnswer() }
        answer(request, note, on: connection)
    }

    func give(_ answer: Int, to request: RequestState, on connection: SimulatorConnection) {
        guard let note = request.note as? RequestNote else { return service.accept(request, on: connection) }
        guard let answer = note.judgement.answer, service.respond(to: request, on: connection, answer),
            let read = note.read
        else { return }
        service.answered(read, note.judgement, answer, payload: request.payload)
        guard answer.status != 200 else { return }
        service.server.refused(request, on: connection, token: { read.token })
    }

    func record(_ answer: ServiceAnswer, to request: RequestState) {
        guard let read = (request.note as? RequestNote)?.read else { return }
        service.answeredFaultily(read, answer, payload: request.payload)
    }

    private func tokenRequested(_ request: RequestState, on connection: SimulatorConnection) {
        let note = RequestNote(nil, fetch: RequestNote.TokenFetch(service.parts.judge.tokens))
        request.note = note
        if service.server.befall(request, on: connection, .authorization, token: { [] }) { return }
        note.judgement.answer = service.answerTokenRequest(
            method: Self.text(request, .method) ?? "", contentType: Self.text(request, .contentType),
            body: request.payload)
        answer(request, note, on: connection)
    }

    private func answer(_ request: RequestState, _ note: RequestNote, on connection: SimulatorConnection) {
        guard note.judgement.answer != nil else { return service.server.leftUnanswered() }
        service.server.answer(
            0, to: request, on: connection, delayNanoseconds: UInt64(note.judgement.delayMilliseconds) * 1_000_000)
    }

    private static func text(_ request: RequestState, _ field: FCMRequestField) -> String? {
        request.fields[field.rawValue].map { String(decoding: $0, as: UTF8.self) }
    }
}
