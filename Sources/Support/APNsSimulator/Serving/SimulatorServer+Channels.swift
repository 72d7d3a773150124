import HTTP2

extension SimulatorServer {
    /// Answers a request about broadcast channels.
    ///
    /// - Returns: false if it is about something else.
    func answerAboutChannels(_ request: RequestState, on connection: SimulatorConnection) -> Bool {
        let answer: ChannelAnswer? = request.head.withFields { fields in
            guard let path = fields[.path], ChannelRules.isAboutChannels(path) else { return nil }
            if let rejection = connection.authenticate(fields, verifier: &verifier) {
                return ChannelAnswer(rejection.status, reason: rejection.rawValue)
            }
            func text(_ field: RequestField) -> String? { fields[field].map { String(decoding: $0, as: UTF8.self) } }
            return channelRules.answer(
                ChannelRules.Request(
                    method: text(.method) ?? "", path: text(.path) ?? "", channel: text(.channelIdentifier),
                    pushType: text(.pushType), priority: text(.priority), expiration: text(.expiration),
                    body: request.body.bytes))
        }
        guard let answer else { return false }
        var headers = HeaderBlock()
        headers.add(":status", value: String(answer.status))
        if let channel = answer.channel { headers.add("apns-channel-id", value: channel, indexing: .neverAdd) }
        _ = connection.respond(to: request, headers, body: answer.body)
        return true
    }
}
