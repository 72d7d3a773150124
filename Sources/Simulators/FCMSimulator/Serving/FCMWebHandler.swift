import HTTPServer
import PushServiceSimulator

/// FCM and the token endpoint over HTTP/1.1, for senders that speak nothing else; without faults.
///
/// Requests are judged on the simulator's first loop.
final class FCMWebHandler: HTTPHandler {
    private let loops: SimulatorLoops<FCMService>
    private let withheld = WithheldResponders()

    init(_ loops: SimulatorLoops<FCMService>) { self.loops = loops }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        .held { [self] responder in
            loops.submit { [self] service in
                guard let answer = answer(request, by: service) else { return withheld.keep(responder) }
                var fields = [HTTPField("content-type", answer.contentType ?? "")]
                if let retryAfter = answer.retryAfter { fields.append(HTTPField("retry-after", retryAfter)) }
                responder.respond(HTTPResponse(status: answer.status, fields: fields, body: answer.body))
            }
        }
    }

    private func answer(_ request: HTTPRequest, by service: FCMService) -> ServiceAnswer? {
        let contentType = request.field("content-type")
        guard request.target.rawPath != TokenEndpoint.path else {
            // Under way as long as it is judged, which no other request for a token can fall into.
            return withExtendedLifetime(RequestNote.TokenFetch(service.parts.judge.tokens)) {
                service.answerTokenRequest(method: request.method, contentType: contentType, body: request.body)
            }
        }
        let read = ReadMessage(request.body)
        service.parts.judge.came(read, nowMilliseconds: service.nowMilliseconds)
        let judgement = service.judge(
            SendRequest(
                method: request.method, path: request.target.rawPath, authorization: request.field("authorization"),
                contentType: contentType, body: request.body), read)
        guard let answer = judgement.answer else {
            service.server.leftUnanswered()
            return nil
        }
        service.answered(read, judgement, answer, payload: request.body)
        return judgement.losesAnswer ? nil : answer
    }
}
