import ConnectionPool
internal import Crypto
internal import EventLoop
internal import HTTP2
internal import Metrics
import Notifications

/// The shell around one `ConnectionPool`: carries out its actions, and keeps the requests that it knows by slot.
///
/// Lives on one loop.
final class EndpointPool {
    static let http2Configuration = {
        var configuration = HTTP2Connection.Configuration()
        // Several addresses are tried within the pool's own limit for one connection.
        configuration.handshakeTimeoutSeconds = 7
        // Answers are short, so a service that sends more is faulty or hostile.
        configuration.initialStreamWindowBytes = 65_535
        configuration.connectionWindowBytes = 1 << 20
        configuration.inputAllowance = InputAllowance(
            burstBytes: 4 << 20, bytesPerSecond: 16_384, bytesPerStream: 131_072)
        return configuration
    }()

    /// The index of this pool among all that its client ever had.
    let index: Int
    /// The number of its route.
    let route: Int
    /// Which of the route's pools it is.
    let kind: PoolKind
    let configuration: ServiceRoute
    let context: TLSContext
    let loop: EventLoop
    let log: EndpointPoolLog
    unowned let owner: ClientCore

    var pool: ConnectionPool
    var requests: [PushRequest?] = []
    var connections: [PooledConnection] = []
    /// The answer that had arrived, but not ended, on the stream that was cancelled last.
    var answerAtDeadline: PushAnswer?
    var lastFailure = ""
    /// Why the authorization was refused last.
    private(set) var refusal = ""

    /// Whether something happened since the end of its last tick.
    private var isTouched = false
    /// When `timePassed` has to be called.
    private(set) var dueNanoseconds = UInt64.max
    /// The index of the connection that was looked for last.
    private var latestIndex = 0
    private let rejections: RouteRejections?
    private let adapter: any ServiceAdapter
    private let acceptedStatuses: ClosedRange<Int>
    private var authorization = RouteAuthorization()
    private var addresses = AddressBook()
    private var reported = EndpointPoolLog.Sizes()
    /// The last reported state of the route to the push service.
    private var reportedReachable: Bool?
    /// Whether a push has waited in vain since there was a connection last.
    var hasWaitedInVain = false
    /// When the memory of pushes that have ended is given back; nil if none is held.
    private var releaseDueNanoseconds: UInt64?
    /// How long it is kept for the pushes that follow.
    private static let keptNanoseconds: UInt64 = 1_000_000_000

    /// Prepares one pool of a route.
    ///
    /// - Parameters:
    ///   - index: its index among all that the client ever had.
    ///   - route: the number of its route.
    ///   - kind: which it is; decides the limits of its pool.
    ///   - part: the common part of the route's pools.
    ///   - rejections: the book that both pools of the route keep.
    ///   - owner: the client's part on the loop.
    ///   - seed: the seed of the pool's jitter.
    init(
        index: Int, route: Int, kind: PoolKind, part: RouteParts, rejections: RouteRejections?, owner: ClientCore,
        seed: UInt64
    ) {
        let configuration = part.configuration
        self.index = index
        self.route = route
        self.kind = kind
        self.configuration = configuration
        context = part.context
        log = part.log.for(kind)
        self.rejections = rejections
        self.owner = owner
        loop = owner.loop
        pool = ConnectionPool(limits: kind.limits(of: configuration.limits), seed: seed)
        adapter = configuration.makeAdapter(configuration.authority)
        acceptedStatuses = adapter.acceptedStatuses
    }

    // MARK: Pushes

    /// Takes in one push; the end of the tick sends it.
    func send(_ request: PushRequest, nowNanoseconds: UInt64) {
        touch()
        let bodyBytes = adapter.bodyBytes(of: request)
        guard let push = pool.pushArrived(bodyBytes: bodyBytes, nowNanoseconds: nowNanoseconds) else {
            let reason = pool.isClosing ? "the transport is closing" : "too many pushes wait for \(serviceTitle)"
            return report(request.identifier, .notProcessed(reason), submittedNanoseconds: nil)
        }
        if push == requests.count { requests.append(request) } else { requests[push] = request }
    }

    /// Something happened, so that the end of the tick has work to do here.
    func touch() {
        guard !isTouched else { return }
        isTouched = true
        owner.touched(self)
    }

    /// Submits the pushes that can be submitted, at the end of the tick, so that they are written together.
    ///
    /// - Returns: when `timePassed` has to be called.
    func tickEnded() -> UInt64 {
        checkAuthorization()
        submitWaiting()
        perform(pool.submissionsEnded(nowNanoseconds: loop.nowNanoseconds))
        reportSizes()
        isTouched = false
        dueNanoseconds = min(
            pool.wakeUpNanoseconds ?? .max, authorization.recheckNanoseconds, releaseMemory(loop.nowNanoseconds))
        return dueNanoseconds
    }

    /// Gives back the memory of pushes that have ended, at a moment when none is out and not too often.
    ///
    /// - Returns: when it has to be asked again; the end of the last push asks as well.
    private func releaseMemory(_ nowNanoseconds: UInt64) -> UInt64 {
        guard !requests.isEmpty else { return .max }
        let due = releaseDueNanoseconds ?? nowNanoseconds &+ Self.keptNanoseconds
        releaseDueNanoseconds = due
        guard pool.isEmpty else { return .max }
        guard nowNanoseconds >= due, pool.releaseMemory() else { return due }
        requests = []
        adapter.releaseMemory()
        releaseDueNanoseconds = nil
        return .max
    }

    private func submitWaiting() {
        guard pool.waitingCount > 0 else { return }
        guard let current = authorization.current else { return endHopeless() }
        let now = loop.nowNanoseconds
        while let submission = pool.nextSubmission(nowNanoseconds: now) { submit(submission, current) }
    }

    private func submit(_ submission: ConnectionPool.Submission, _ authorization: Authorization) {
        guard let connection = connection(submission.connection), let http = connection.http,
            let request = requests[submission.push]
        else { return perform(pool.submissionFailed(submission, nowNanoseconds: loop.nowNanoseconds)) }
        do throws(HTTP2Error) {
            let stream = try adapter.submit(
                request, authorization: authorization.headerValue, sent: &connection.sentFields, on: http)
            connection.authorization.sent(authorization.generation, on: stream)
            pool.submitted(submission, stream: stream, nowNanoseconds: loop.nowNanoseconds)
        } catch {
            log.submissionFailed(error.message)
            perform(pool.submissionFailed(submission, nowNanoseconds: loop.nowNanoseconds))
        }
    }

    private func checkAuthorization() {
        guard !pool.isClosing,
            authorization.isDue(isNeeded: pool.waitingCount > 0, nowNanoseconds: loop.nowNanoseconds)
        else { return }
        take(configuration.authorizer.authorization())
    }

    private func take(_ state: AuthorizationState) {
        let news = authorization.answered(state)
        if news.isOtherKey, adapter.bindsConnections { perform(pool.keyReplaced(nowNanoseconds: loop.nowNanoseconds)) }
        if let problem = news.problem { fail(problem, hint: nil) }
    }

    private func endHopeless() {
        guard let outcome = authorization.waitingOutcome else { return }
        for push in pool.waitingGivenUp() {
            if case .notProcessed = outcome { log.metrics.requests.notProcessed.add() }
            report(push: push, outcome, submittedNanoseconds: nil)
        }
    }

    /// The authorizer may have something new.
    func authorizationChanged() {
        authorization.mayHaveChanged()
        touch()
    }

    /// The name of the push service, for people.
    var serviceTitle: String { configuration.service.title }

    // MARK: Reports of connections

    func connectionReady(_ connection: PooledConnection, streamsMaximum: Int) {
        addresses.succeeded(connection.address)
        lastFailure = ""
        log.ready(address: connection.address, streamsMaximum: streamsMaximum)
        perform(
            pool.connectionReady(
                connection.number, streamsMaximum: streamsMaximum,
                windowBytes: connection.http?.submittableBodyBytes ?? 0, nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    func settingsChanged(_ connection: PooledConnection, streamsMaximum: Int) {
        pool.settingsChanged(
            connection.number, streamsMaximum: streamsMaximum, nowNanoseconds: loop.nowNanoseconds)
        touch()
    }

    func windowChanged(_ connection: PooledConnection) {
        guard let http = connection.http else { return }
        pool.windowChanged(connection.number, windowBytes: http.submittableBodyBytes)
        touch()
    }

    func answered(_ connection: PooledConnection, stream: Int32, answer: PartialAnswer) {
        if acceptedStatuses.contains(answer.status) {
            connection.hasAccepted = true
            end(
                connection, stream, PushAnswer(status: 200, messageName: adapter.messageName(in: answer.body)), [])
        } else {
            var full = adapter.answer(
                status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds)
            full.explanation = full.explanation ?? answer.explanation
            let meaning = adapter.meaning(of: full).union(.ofHTTP(full.status))
            let reason = full.reason.isEmpty ? "status-\(full.status)" : full.reason
            let isWaiting =
                !meaning.isDisjoint(with: [.connectionWedged, .authorizationExpired])
                && isSentAgain(stream, of: connection, after: full.reason, meaning)
                || !meaning.isDisjoint(with: [.shutdownAnnounced, .misdirected])
                    && isGivenBack(stream, by: connection, after: reason)
            if !isWaiting { end(connection, stream, full, meaning) }
            // One on which nothing was ever accepted is kept: the next would fare no better.
            if !isWaiting, meaning.contains(.connectionSuspect), connection.hasAccepted {
                replaceFaulty(connection, after: full.reason)
            }
        }
        touch()
    }

    /// The server said on a connection that it shuts down, or that the connection is not for this origin: the push goes
    /// to another, and so will all that follow.
    private func isGivenBack(_ stream: Int32, by connection: PooledConnection, after reason: String) -> Bool {
        let isWaiting = pool.answeredUnprocessed(
            stream: stream, of: connection.number, nowNanoseconds: loop.nowNanoseconds)
        replaceFaulty(connection, after: reason)
        return isWaiting
    }

    private func replaceFaulty(_ connection: PooledConnection, after reason: String) {
        if !connection.isRefused { log.connectionFaulty(address: connection.address, reason: reason) }
        connection.isRefused = true
        perform(pool.connectionFaulty(connection.number, nowNanoseconds: loop.nowNanoseconds))
    }

    private func end(_ connection: PooledConnection, _ stream: Int32, _ answer: PushAnswer, _ meaning: AnswerMeaning) {
        let isAuthorized = !meaning.contains(.authorizationRefused)
        let ended = pool.answered(
            stream: stream, of: connection.number, provesToken: isAuthorized, nowNanoseconds: loop.nowNanoseconds)
        guard let ended else { return }
        noteAuthorization(connection, isAccepted: isAuthorized, answer.reason)
        if let rejections, answer.status != 200 || kind == .quarantine, let request = requests[ended.push] {
            if answer.status == 200 {
                rejections.accepted(request.token)
            } else if meaning.contains(.tokenBlamed) {
                rejections.rejected(request.token, nowNanoseconds: loop.nowNanoseconds)
            }
        }
        report(push: ended.push, .answered(answer), submittedNanoseconds: ended.submittedNanoseconds)
        if ended.isLastOfDraining, let close = pool.connectionToClose(after: connection.number) { perform([close]) }
    }

    /// Notes what an answer says of the authorization; a connection that refuses it too often is replaced.
    private func noteAuthorization(_ connection: PooledConnection, isAccepted: Bool, _ reason: String) {
        guard !isAccepted else { return connection.authorization.accepted() }
        refusal = reason
        let isReplaced = connection.authorization.refused(
            refusalsMaximum: pool.limits.tokenRefusalsMaximum, replacesUnproven: !adapter.bindsConnections)
        if isReplaced { replaceFaulty(connection, after: reason) }
    }

    /// The authorization was refused, and the push is worth another try.
    ///
    /// A connection that is wedged, and took an authorization before or could get a newer one, is replaced. The pushes
    /// that it refused are sent again: none of them was processed.
    ///
    /// - Returns: whether the push waits again; if not, its answer counts.
    private func isSentAgain(
        _ stream: Int32, of connection: PooledConnection, after reason: String, _ meaning: AnswerMeaning
    ) -> Bool {
        var renewed: AuthorizationState?
        if meaning.contains(.authorizationExpired), !connection.authorization.isOutdated(on: stream) {
            let state = configuration.authorizer.authorizationExpired(generation: connection.authorization.generation)
            take(state)
            renewed = state
        }
        let isWorthwhile = RouteAuthorization.isWorthAnotherTry(
            meaning, on: connection.authorization, stream: stream, renewed: renewed)
        guard isWorthwhile else { return false }
        let isWedged = meaning.contains(.connectionWedged)
        let isWaiting = pool.answeredUnprocessed(
            stream: stream, of: connection.number, nowNanoseconds: loop.nowNanoseconds)
        if !connection.isRefused { log.authorizationRefused(reason: reason) }
        connection.isRefused = isWedged
        if isWedged { perform(pool.tokenExpired(on: connection.number, nowNanoseconds: loop.nowNanoseconds)) }
        return isWaiting
    }

    func streamReset(_ connection: PooledConnection, stream: Int32, errorCode: UInt32) {
        perform(
            pool.streamReset(
                stream: stream, of: connection.number, errorCode: errorCode, nowNanoseconds: loop.nowNanoseconds))
        // Its body may not have been written, and then its share of the window is free again.
        windowChanged(connection)
    }

    func goAwayReceived(_ connection: PooledConnection, lastStream: Int32, errorCode: UInt32, debugData: [UInt8]) {
        connection.isGoingAway = true
        log.goAway(
            address: connection.address, errorCode: errorCode, reason: adapter.reason(inGoAway: debugData))
        perform(
            pool.goAwayReceived(connection.number, lastStream: lastStream, nowNanoseconds: loop.nowNanoseconds))
        touch()
    }

    func pingAcknowledged(_ connection: PooledConnection) {
        pool.pingAcknowledged(connection.number, nowNanoseconds: loop.nowNanoseconds)
        touch()
    }

    func connectionLost(_ connection: PooledConnection, reason: HTTP2CloseReason, lastWrittenStream: Int32) {
        connections.removeAll { $0 === connection }
        for stream in connection.streamsWithAnswers {
            guard let answer = connection.takeAnswer(stream: stream) else { continue }
            answered(connection, stream: stream, answer: answer)
        }
        if connection.isGoingAway {
            log.closed(address: connection.address)
        } else if !connection.isForgotten {
            lastFailure = "\(connection.address): \(reason)"
            log.lost(address: connection.address, reason: "\(reason)")
        }
        perform(
            pool.connectionLost(
                connection.number, lastWrittenStream: lastWrittenStream, nowNanoseconds: loop.nowNanoseconds))
        touch()
        owner.connectionEnded()
    }

    /// A connection could not be made.
    func connectionFailed(
        _ connection: PooledConnection, reason: String, hint: String?, isEndpointUnusable: Bool = false
    ) {
        connections.removeAll { $0 === connection }
        if !connection.isForgotten { fail(reason, hint: hint) }
        perform(
            pool.connectionLost(
                connection.number, lastWrittenStream: 0, isEndpointUnusable: isEndpointUnusable,
                nowNanoseconds: loop.nowNanoseconds))
        log.circuit(pool.circuit)
        touch()
        owner.connectionEnded()
    }

    func addressFailed(_ address: String) { addresses.failed(address) }

    func fail(_ reason: String, hint: String?) {
        lastFailure = reason
        log.failed(reason: reason, hint: hint)
    }

    func connection(_ number: Int) -> PooledConnection? {
        if latestIndex < connections.count, connections[latestIndex].number == number {
            return connections[latestIndex]
        }
        guard let index = connections.firstIndex(where: { $0.number == number }) else { return nil }
        latestIndex = index
        return connections[index]
    }

    /// The addresses in the order in which to try them for a connection.
    func inOrderOfTrial(_ found: [SocketAddress], connection: Int) -> [SocketAddress] {
        addresses.order(found.map(\.description), used: connections.map(\.address), rotation: connection)
            .map { found[$0] }
    }

    /// Brings the metrics up to date, once a tick.
    private func reportSizes() {
        let sizes = EndpointPoolLog.Sizes(
            states: pool.states, streams: pool.inFlightCount, waiting: pool.waitingCount, counts: pool.counts,
            isCircuitOpen: pool.isCircuitOpen && !pool.isClosing)
        log.changed(from: reported, to: sizes)
        reported = sizes
        reportReachability(sizes)
    }

    /// Says whether the route leads to its push service, when that changes; a short loss of all connections is not
    /// worth a word.
    private func reportReachability(_ sizes: EndpointPoolLog.Sizes) {
        guard kind == .main, !pool.isClosing else { return }
        let isConnected = sizes.states.proving + sizes.states.open > 0
        if isConnected { hasWaitedInVain = false }
        let isReachable = isConnected && !authorization.isUnavailable
        let isKnown = isReachable || authorization.isUnavailable || sizes.isCircuitOpen || hasWaitedInVain
        guard isKnown, reportedReachable != isReachable else { return }
        reportedReachable = isReachable
        owner.routeChanged(RouteChange(route: route, isReachable: isReachable))
    }
}

/// The pools of a route: pools of connections to the same endpoint that do not disturb each other.
///
/// Some services punish a connection for rejected pushes. Pushes to tokens that were rejected lately then travel on a
/// connection of their own.
enum PoolKind: String, CaseIterable {
    /// For all other pushes.
    case main
    /// For pushes to tokens that were rejected lately; connects when there is one, and closes when it is idle.
    case quarantine

    /// The limits of the pool, made from those of the route.
    func limits(of route: PoolLimits) -> PoolLimits {
        guard self == .quarantine else { return route }
        var limits = route
        limits.connections = 0
        limits.connectionsMaximum = 1
        return limits
    }
}
