import ConnectionPool
internal import EventLoop
internal import HTTP2
internal import Metrics
import Notifications

/// The execution of the pool's actions.
extension EndpointPool {
    func start() {
        perform(pool.start(nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    /// Time has passed.
    func timePassed() {
        guard dueNanoseconds <= loop.nowNanoseconds else { return }
        perform(pool.timePassed(nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    /// A push may take as long as this from now on.
    func deadlineChanged(toNanoseconds deadline: UInt64) {
        pool.deadlineChanged(toNanoseconds: deadline)
        touch()
    }

    /// The transport closes: the pool takes no new pushes; pushes in flight may still be answered.
    func close() {
        perform(pool.close(nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    /// The transport's time for answers is over.
    func closeNow() {
        perform(pool.closeNow(nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    func perform(_ actions: [PoolAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: PoolAction) {
        switch action {
        case .connect(let number): connect(number)
        case .close(let number): close(number)
        case .abandon(let number): abandon(number)
        case .ping(let number): connection(number)?.http?.ping(UInt64(number))
        case .cancel(let number, let stream): cancel(stream: stream, of: number)
        case .end(let push, let ending): end(push, ending)
        }
    }

    private func connect(_ number: Int) {
        let connection = PooledConnection(number: number, route: self)
        connections.append(connection)
        guard let here = owner.fromElsewhere else { return }
        let (host, port) = configuration.nextHop
        let group = configuration.proxy == nil ? configuration.lookUpGroup : nil
        AddressResolver.resolve(host: host, port: port, group: group) { [index] answer in
            here.loop.submit { here.value.resolved(answer, pool: index, connection: number) }
        }
    }

    /// The name look-up for a connection ended; the pool may have given the connection up since.
    func resolved(_ answer: AddressResolver.Answer, for number: Int) {
        guard let connection = connection(number) else { return }
        switch answer {
        case .success(let found):
            let addresses = configuration.admitted(found)
            guard addresses.isEmpty else {
                return connection.connect(to: inOrderOfTrial(addresses, connection: number))
            }
            connectionFailed(
                connection, reason: ConnectionHint.noAdmittedAddress.reason,
                hint: ConnectionHint.noAdmittedAddress.advice, isEndpointUnusable: true)
        case .failure(let error):
            connectionFailed(
                connection, reason: error.message,
                hint: ConnectionHint.resolution(isOfProxy: configuration.proxy != nil))
        }
    }

    private func close(_ number: Int) {
        guard let connection = connection(number) else { return }
        connection.isForgotten = true
        if let http = connection.http {
            http.close()
        } else {
            connection.cancelTunnel()
            connections.removeAll { $0 === connection }
            owner.connectionEnded()
        }
    }

    /// Drops a connection that did not become ready in time, or did not answer a PING.
    private func abandon(_ number: Int) {
        if let connection = connection(number), !pool.isClosing {
            // The next attempt is better made elsewhere.
            if !connection.address.isEmpty { addressFailed(connection.address) }
            if connection.isReady {
                lastFailure = "\(connection.address): no answer to a PING"
                log.lost(address: connection.address, reason: "no answer to a PING")
            } else {
                fail("\(connection.displayAddress): not ready in time", hint: ConnectionHint.reachability)
            }
        }
        close(number)
    }

    /// Tells the peer to forget a stream; an answer whose body was still missing counts all the same.
    private func cancel(stream: Int32, of number: Int) {
        guard let connection = connection(number) else { return }
        answerAtDeadline = connection.takeAnswer(stream: stream).map {
            PushAnswer(status: $0.status, retryAfterSeconds: $0.retryAfterSeconds)
        }
        connection.http?.resetStream(stream, errorCode: Self.cancelCode)
    }

    /// The HTTP/2 error code CANCEL (RFC 9113, section 7).
    static let cancelCode: UInt32 = 8

    private func end(_ push: Int, _ ending: PushEnding) {
        if let answer = answerAtDeadline {
            answerAtDeadline = nil
            return report(push: push, .answered(answer), submittedNanoseconds: nil)
        }
        switch ending {
        case .notProcessed(let cause):
            if cause == .waitedTooLong { hasWaitedInVain = true }
            log.metrics.requests.notProcessed.add()
            report(push: push, .notProcessed(text(cause)), submittedNanoseconds: nil)
        case .ambiguous(let cause):
            log.metrics.requests.ambiguous.add()
            report(push: push, .ambiguous(text(cause)), submittedNanoseconds: nil)
        }
    }

    private func text(_ cause: PushEnding.NotProcessedCause) -> String {
        switch cause {
        case .waitedTooLong:
            lastFailure.isEmpty
                ? "no stream to \(serviceTitle) was free in time"
                : "no stream to \(serviceTitle) was free in time; \(lastFailure)"
        case .refused: "\(serviceTitle) refused the stream"
        case .aboveGoAway: "\(serviceTitle) closed the connection (GOAWAY) before the request"
        case .neverWritten: "the connection was lost before the request was written"
        case .closing: "the transport is closing"
        case .tokenRefused: "\(serviceTitle) refuses the authorization (\(refusal))"
        case .endpointUnusable: "the endpoint cannot be used: \(lastFailure)"
        case .notAccepted: "the connection took no request"
        }
    }

    private func text(_ cause: PushEnding.AmbiguousCause) -> String {
        switch cause {
        case .deadline: "no answer in time"
        case .connectionLost: "the connection was lost after the request was written"
        case .streamReset(let code): "\(serviceTitle) reset the stream with HTTP/2 error \(code)"
        case .closing: "the transport closed before the answer came"
        }
    }

    // MARK: Results

    /// Reports the end of the push in a slot, which becomes free.
    func report(push: Int, _ outcome: AttemptOutcome, submittedNanoseconds: UInt64?) {
        guard let request = requests[push] else { return }
        requests[push] = nil
        report(request.identifier, outcome, submittedNanoseconds: submittedNanoseconds)
    }

    func report(_ identifier: UInt64, _ outcome: AttemptOutcome, submittedNanoseconds: UInt64?) {
        let duration = submittedNanoseconds.map { loop.nowNanoseconds - $0 } ?? 0
        owner.report(AttemptResult(identifier: identifier, outcome: outcome, durationNanoseconds: duration))
    }
}
