import HTTP2
import PushServiceSimulator

/// Judges the requests of one connection, and the provider tokens that they come with.
final class PushHandler: RequestHandler {
    private let service: APNsService
    private var tokens = ProviderTokenSession()

    init(service: APNsService) { self.service = service }

    /// As if the connection had seen an expired token once, and would not forget it.
    var wedgedAnswer: ServiceAnswer { .apns(.expiredProviderToken) }

    func requestCompleted(_ request: RequestState, on connection: SimulatorConnection) {
        let server = service.server
        if server.befall(request, on: connection, token: { Self.token(of: request) }) { return }
        guard !server.configuration.isTrusting else {
            return server.answer(AnswerCatalog.accepted, to: request, on: connection)
        }
        if answerAboutChannels(request, on: connection) { return }
        let (rejection, step) = judge(request, on: connection)
        if let rejection {
            return server.answer(service.catalog.index(of: rejection), to: request, on: connection)
        }
        request.isPayloadChecked = true
        guard let step else { return server.answer(AnswerCatalog.accepted, to: request, on: connection) }
        guard let scripted = step.answer else { return server.leftUnanswered() }
        server.answer(
            service.catalog.index(of: scripted), to: request, on: connection,
            delayNanoseconds: UInt64(step.delayMilliseconds) * 1_000_000)
    }

    func give(_ answer: Int, to request: RequestState, on connection: SimulatorConnection) {
        guard let given = service.give(answer, to: request, on: connection), given.answer.status != 200 else { return }
        service.server.refused(request, on: connection, token: { Self.token(of: request) })
    }

    func record(_ answer: ServiceAnswer, to request: RequestState) {
        request.withFields { fields in
            service.withIdentifierText(for: fields) { service.record(answer, request, fields, $0) }
        }
    }

    /// The device token by which faults choose a request, in lowercase digits.
    private static func token(of request: RequestState) -> [UInt8] {
        request.withFields { fields in
            fields.deviceTokenDigits.map { $0.map(\.lowercasedDigit) } ?? []
        }
    }

    /// Why the request is refused; if it is not, what the script says about its token.
    private func judge(
        _ request: RequestState, on connection: SimulatorConnection
    ) -> (Rejection?, TokenStep?) {
        request.withFields { fields in
            let rejection = service.rules.rejection(
                fields: fields, payload: request.payload, length: request.payloadLength
            ) {
                authenticate(fields, on: connection)
            }
            guard rejection == nil, let digits = fields.deviceTokenDigits else { return (rejection, nil) }
            let step = service.configuration.script.nextStep(forTokenDigits: digits)
            if let kind = step?.kind, kind != RequestRules.kind(ofTopic: fields[.topic]) {
                return (.deviceTokenNotForTopic, nil)
            }
            return (nil, step)
        }
    }

    /// Judges the provider token of a request.
    private func authenticate(_ fields: RequestFields, on connection: SimulatorConnection) -> Rejection? {
        guard let authorization = fields[.authorization],
            let text = ProviderToken.text(inAuthorization: authorization)
        else { return .missingProviderToken }
        let nowSeconds = service.server.nowMilliseconds / 1_000
        if tokens.isCurrent(text) { return tokens.rejectionOfCurrent(nowSeconds: nowSeconds) }
        guard let token = service.verifier.genuineToken(inAuthorization: text) else { return .invalidProviderToken }
        if let rejection = tokens.admit(token, authorization: text, nowSeconds: nowSeconds) { return rejection }
        connection.authenticated()
        return nil
    }

    /// Answers a request about broadcast channels.
    ///
    /// - Returns: false if it is about something else.
    private func answerAboutChannels(_ request: RequestState, on connection: SimulatorConnection) -> Bool {
        let answer: ServiceAnswer? = request.withFields { fields in
            guard let path = fields[.path], ChannelRules.isAboutChannels(path) else { return nil }
            if let rejection = authenticate(fields, on: connection) { return .apns(rejection) }
            func text(_ field: RequestField) -> String? { fields[field].map { String(decoding: $0, as: UTF8.self) } }
            return service.channelRules.answer(
                ChannelRules.Request(
                    method: text(.method) ?? "", path: text(.path) ?? "", channel: text(.channelIdentifier),
                    pushType: text(.pushType), priority: text(.priority), expiration: text(.expiration),
                    body: request.payload))
        }
        guard let answer else { return false }
        var headers = HeaderBlock()
        headers.add(":status", value: String(answer.status))
        for header in answer.headers { headers.add(header.name, value: header.value, indexing: .neverAdd) }
        _ = connection.respond(to: request, headers, body: answer.body)
        return true
    }
}
