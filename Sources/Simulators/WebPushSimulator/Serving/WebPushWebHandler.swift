import EventLoop
import HTTPServer
import PushServiceSimulator

/// An origin over HTTP/1.1: requests are judged on its first loop.
final class WebPushWebHandler: HTTPHandler {
    private let loops: SimulatorLoops<WebPushService>
    private let withheld = WithheldResponders()

    init(_ loops: SimulatorLoops<WebPushService>) { self.loops = loops }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        .held { [self] responder in
            loops.submit { [self] service in answer(request, by: service, responder) }
        }
    }

    private func answer(_ request: HTTPRequest, by service: WebPushService, _ responder: HTTPResponder) {
        guard !service.server.configuration.isTrusting else {
            service.acceptedUnseen()
            return responder.respond(Self.response(service.welcome()))
        }
        let read = WebPushRequest(request)
        if read.path.hasPrefix(OriginParts.trapPath) {
            service.parts.trapVisited()
            return responder.respond(Self.response(service.welcome()))
        }
        let push = PendingPush(read, service.parts.directory)
        var losesAnswer = false
        var bytesMaximum = Int.max
        var delayMilliseconds: Int64 = 0
        switch service.server.faultWithoutConnection(token: { push.token }) {
        case .answer(let answer):
            responder.respond(Self.response(answer))
            return service.answeredFaultily(push, answer)
        case .silence:
            service.server.leftUnanswered()
            return withheld.keep(responder)
        case .loseAnswer: losesAnswer = true
        case .cutAnswer(let bytes): bytesMaximum = bytes
        case .delay(let milliseconds): delayMilliseconds = Int64(milliseconds)
        default: break
        }
        push.judgement = service.judge(push, read)
        guard let answer = push.judgement.answer else {
            service.server.leftUnanswered()
            return withheld.keep(responder)
        }
        losesAnswer = losesAnswer || push.judgement.losesAnswer
        delayMilliseconds += push.judgement.delayMilliseconds
        let give = { [self] in
            service.answered(push, answer)
            guard !losesAnswer else {
                service.server.answerLost()
                return withheld.keep(responder)
            }
            responder.respond(Self.response(answer, bytesMaximum: bytesMaximum))
        }
        guard delayMilliseconds > 0 else { return give() }
        service.server.loop.schedule(afterNanoseconds: UInt64(delayMilliseconds) * 1_000_000, handler: give)
    }

    private static func response(_ answer: ServiceAnswer, bytesMaximum: Int = .max) -> HTTPResponse {
        var fields = answer.contentType.map { [HTTPField("Content-Type", $0)] } ?? []
        if let retryAfter = answer.retryAfter { fields.append(HTTPField("Retry-After", retryAfter)) }
        for header in answer.headers {
            // The server adds a field of this name unless it finds it, in this case of letters.
            let name = header.name.description
            fields.append(HTTPField(name == "cache-control" ? "Cache-Control" : name, header.value))
        }
        return HTTPResponse(status: answer.status, fields: fields, body: Array(answer.body.prefix(bytesMaximum)))
    }
}
