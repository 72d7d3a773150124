import PushServiceSimulator

/// Judges the requests of one connection of HTTP/2.
final class WebPushHandler: RequestHandler {
    private let service: WebPushService

    init(service: WebPushService) { self.service = service }

    /// As if the connection would not take any VAPID token any more.
    var wedgedAnswer: ServiceAnswer { service.parts.answers.answer(to: .vapidTokenInvalid) }

    func requestCompleted(_ request: RequestState, on connection: SimulatorConnection) {
        guard !service.server.configuration.isTrusting else {
            return service.server.answerUnseen(request, on: connection)
        }
        let read = WebPushRequest(request)
        if read.path.hasPrefix(OriginParts.trapPath) { return trapped(request, on: connection) }
        let push = PendingPush(read, service.parts.directory)
        request.note = push
        if service.server.befall(request, on: connection, token: { push.token }) { return }
        push.judgement = service.judge(push, read)
        if push.judgement.losesAnswer { request.loseAnswer() }
        guard push.judgement.answer != nil else { return service.server.leftUnanswered() }
        service.server.answer(
            0, to: request, on: connection, delayNanoseconds: UInt64(push.judgement.delayMilliseconds) * 1_000_000)
    }

    func give(_ answer: Int, to request: RequestState, on connection: SimulatorConnection) {
        guard let push = request.note as? PendingPush else { return accept(request, on: connection) }
        guard let answer = push.judgement.answer, service.server.respond(to: request, on: connection, answer) else {
            return
        }
        service.answered(push, answer)
        guard !answer.isAcceptance else { return }
        service.server.refused(request, on: connection, token: { push.token })
    }

    func record(_ answer: ServiceAnswer, to request: RequestState) {
        guard let push = request.note as? PendingPush else { return }
        service.answeredFaultily(push, answer)
    }

    /// Welcomes who follows a redirect, so that the mistake shows in the counts only.
    private func trapped(_ request: RequestState, on connection: SimulatorConnection) {
        service.parts.trapVisited()
        _ = service.server.respond(to: request, on: connection, service.welcome())
    }

    /// Accepts a push unseen.
    private func accept(_ request: RequestState, on connection: SimulatorConnection) {
        if service.server.respond(to: request, on: connection, service.welcome()) { service.acceptedUnseen() }
    }
}

extension WebPushService {
    /// The answer to a message that was not looked at.
    func welcome() -> ServiceAnswer {
        parts.answers.acceptance(of: AcceptedMessage(id: "0", ttlSeconds: 0, origin: parts.url))
    }

    /// Counts a message that was not looked at.
    func acceptedUnseen() {
        log.count(status: 201, reason: nil)
        server.progress.requestAnswered()
    }
}
