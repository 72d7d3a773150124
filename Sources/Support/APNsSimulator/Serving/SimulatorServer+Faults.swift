import HTTP2

extension SimulatorServer {
    /// The fault of a request, if it gets one.
    func fault(of request: RequestState, on connection: SimulatorConnection, isRejected: Bool) -> Fault? {
        let digits = request.head.withFields { fields in
            fields.deviceTokenDigits.map { $0.map { (65...70).contains($0) ? $0 | 0x20 : $0 } } ?? []
        }
        return faults.requestCame(
            FaultPlan.Request(
                connection: connection.number, number: connection.requestCount, tokenDigits: digits,
                isRejected: isRejected))
    }

    /// Lets a fault happen to a request, or what an earlier fault has made of its connection.
    ///
    /// - Returns: whether the request needs no other answer.
    func befall(_ fault: Fault?, _ request: RequestState, on connection: SimulatorConnection) -> Bool {
        switch fault {
        case .goAway(let last, let errorCode, let reason):
            connection.goAway(last, errorCode: errorCode, reason: reason, at: request)
            return false
        case .resetStream(let errorCode):
            connection.reset(request, errorCode: errorCode)
            return true
        case .streamLimit(let streams, let backAfterMilliseconds):
            connection.limitStreams(to: streams, backAfterMilliseconds: backAfterMilliseconds)
            return false
        case .wedgeConnection:
            connection.isWedged = true
            return refuse(request, on: connection)
        case .answer(let answer): return give(answer, to: request, on: connection)
        case .silence:
            ledger.summary.silent += 1
            return true
        case .delay(let milliseconds):
            request.extraDelayNanoseconds = UInt64(milliseconds) * 1_000_000
            return false
        case .wire, .window, .foreignCertificate, nil: return connection.isWedged && refuse(request, on: connection)
        }
    }

    private func refuse(_ request: RequestState, on connection: SimulatorConnection) -> Bool {
        var answer = FaultyAnswer()
        let scripted = ScriptedAnswer(.expiredProviderToken)
        answer.status = scripted.status
        answer.reason = scripted.reason
        answer.body = scripted.body
        return give(answer, to: request, on: connection)
    }

    private func give(_ answer: FaultyAnswer, to request: RequestState, on connection: SimulatorConnection) -> Bool {
        var headers = HeaderBlock()
        headers.add(":status", value: String(answer.status))
        if let retryAfter = answer.retryAfter { headers.add("retry-after", value: retryAfter) }
        if answer.extraHeaderBytes > 0 {
            headers.add("x-extra", value: String(repeating: "x", count: answer.extraHeaderBytes))
        }
        guard connection.respond(to: request, headers, body: answer.body) else { return true }
        request.head.withFields { fields in
            withIdentifierText(for: fields) { identifier in
                ledger.answeredFaultily(
                    ScriptedAnswer(status: answer.status, reason: answer.reason), request: request, fields: fields,
                    identifierText: identifier)
            }
        }
        return true
    }
}
