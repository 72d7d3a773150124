extension SimulatorServer {
    /// Lets a request that has come get its fault, or what an earlier fault has made of its connection.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - connection: its connection.
    ///   - trigger: the kind of request.
    ///   - token: the addressee; asked for only if there are faults.
    /// - Returns: whether the request needs no other answer.
    public func befall(
        _ request: RequestState, on connection: SimulatorConnection, _ trigger: FaultSyntax.Trigger = .request,
        token: () -> [UInt8]
    ) -> Bool {
        let fault = faults.isActive ? fault(of: request, on: connection, trigger, token()) : nil
        return (connection.isWedged || fault != nil) && befall(fault, request, on: connection)
    }

    /// Lets a fault happen because a push was refused, after its answer.
    public func refused(_ request: RequestState, on connection: SimulatorConnection, token: () -> [UInt8]) {
        guard faults.isActive, let fault = fault(of: request, on: connection, .rejection, token()) else { return }
        _ = befall(fault, request, on: connection)
    }

    /// Answers a push unseen, if no fault befalls it.
    public func answerUnseen(_ request: RequestState, on connection: SimulatorConnection) {
        if !befall(request, on: connection, token: { [] }) { answer(0, to: request, on: connection) }
    }

    /// The fault of a request that did not come over a connection of HTTP/2; `after` and `connection` see it as the
    /// first one of connection 0.
    ///
    /// - Parameter token: the addressee; asked for only if there are faults.
    /// - Returns: the fault, which the caller lets happen as far as it can.
    public func faultWithoutConnection(token: () -> [UInt8]) -> Fault? {
        guard faults.isActive else { return nil }
        return faults.requestCame(FaultPlan.Request(connection: 0, number: 1, token: token(), trigger: .request))
    }

    private func fault(
        of request: RequestState, on connection: SimulatorConnection, _ trigger: FaultSyntax.Trigger, _ token: [UInt8]
    ) -> Fault? {
        faults.requestCame(
            FaultPlan.Request(
                connection: connection.number, number: connection.requestCount, token: token, trigger: trigger))
    }

    private func befall(_ fault: Fault?, _ request: RequestState, on connection: SimulatorConnection) -> Bool {
        switch fault {
        case .goAway(let last, let errorCode, let reason):
            connection.goAway(last, errorCode: errorCode, reason: reason, at: request)
        case .resetStream(let errorCode):
            connection.reset(request, errorCode: errorCode)
            return true
        case .streamLimit(let streams, let backAfterMilliseconds):
            connection.limitStreams(to: streams, backAfterMilliseconds: backAfterMilliseconds)
        case .wedgeConnection:
            connection.isWedged = true
            connection.refuse(request)
            return true
        case .answer(let answer):
            connection.give(answer, to: request)
            return true
        case .silence:
            counts.silent += 1
            return true
        case .endless(let part, let status):
            connection.giveWithoutEnd(part, status: status, to: request)
            return true
        case .loseAnswer: request.losesAnswer = true
        case .cutAnswer(let bytes): request.answerBytesMaximum = bytes
        case .delay(let milliseconds): request.extraDelayNanoseconds = UInt64(milliseconds) * 1_000_000
        case .wire, .window, .foreignCertificate, nil:
            guard connection.isWedged else { return false }
            connection.refuse(request)
            return true
        }
        return false
    }
}
