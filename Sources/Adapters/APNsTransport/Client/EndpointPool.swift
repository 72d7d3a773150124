import ConnectionPool
internal import Crypto
internal import EventLoop
internal import HTTP2
import Notifications

/// The shell around one `ConnectionPool`: carries out its actions, and keeps the requests that it knows by slot.
///
/// Lives on one loop.
final class EndpointPool {
    static let http2Configuration = {
        var configuration = HTTP2Connection.Configuration()
        // Several addresses are tried within the pool's own limit for one connection.
        configuration.handshakeTimeoutSeconds = 7
        return configuration
    }()

    /// How often the source is asked for the token, so that a new one is used soon and a push costs no look at it.
    private static let tokenCheckNanoseconds: UInt64 = 1_000_000_000

    /// The index of this pool among its client's pools.
    let index: Int
    /// Which of the route's pools it is.
    let kind: PoolKind
    let configuration: APNsRoute
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
    /// Why the provider token was refused last.
    private(set) var refusal = ""

    /// Whether something happened since the end of its last tick.
    private var isTouched = false
    /// When `timePassed` has to be called.
    private(set) var dueNanoseconds = UInt64.max
    /// The index of the connection that was looked for last.
    private var latestIndex = 0
    private let rejections: RouteRejections
    private var encoder: RequestEncoder
    private let parser = AnswerParser()
    private var token: ProviderToken?
    /// When the source is to be asked for the token again.
    private var tokenCheckedNanoseconds: UInt64 = 0
    private var addresses = AddressBook()
    private var reported = EndpointPoolLog.Sizes()
    /// The last reported state of the route to APNs.
    private var reportedReachable: Bool?
    /// Whether a push has waited in vain since there was a connection last.
    var hasWaitedInVain = false

    /// Prepares one pool of a route.
    ///
    /// - Parameters:
    ///   - index: its index among the client's pools.
    ///   - kind: which it is; decides the limits of its pool.
    ///   - part: the common part of the route's pools.
    ///   - rejections: the book that both pools of the route keep.
    ///   - owner: the client's part on the loop.
    ///   - seed: the seed of the pool's jitter.
    init(
        index: Int, kind: PoolKind, part: (configuration: APNsRoute, context: TLSContext, log: EndpointPoolLog),
        rejections: RouteRejections, owner: ClientCore, seed: UInt64
    ) {
        let configuration = part.configuration
        self.index = index
        self.kind = kind
        self.configuration = configuration
        context = part.context
        log = part.log.for(kind)
        self.rejections = rejections
        self.owner = owner
        loop = owner.loop
        pool = ConnectionPool(limits: kind.limits(of: configuration.limits), seed: seed)
        encoder = RequestEncoder(authority: configuration.authority)
    }

    // MARK: Pushes

    /// Takes in one push; the end of the tick sends it.
    func send(_ request: PushRequest, nowNanoseconds: UInt64) {
        touch()
        let bodyBytes = request.content.payload.count
        guard let push = pool.pushArrived(bodyBytes: bodyBytes, nowNanoseconds: nowNanoseconds) else {
            let reason = pool.isClosing ? "the transport is closing" : "too many pushes wait for APNs"
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
        submitWaiting()
        perform(pool.submissionsEnded(nowNanoseconds: loop.nowNanoseconds))
        reportSizes()
        isTouched = false
        dueNanoseconds = pool.wakeUpNanoseconds ?? .max
        return dueNanoseconds
    }

    private func submitWaiting() {
        guard pool.waitingCount > 0, let token = currentToken() else { return }
        while let submission = pool.nextSubmission() { submit(submission, token: token) }
    }

    private func submit(_ submission: ConnectionPool.Submission, token: ProviderToken) {
        guard let connection = connection(submission.connection), let http = connection.http,
            let request = requests[submission.push]
        else { return perform(pool.submissionFailed(submission, nowNanoseconds: loop.nowNanoseconds)) }
        connection.tokenGeneration = token.generation
        encoder.encode(request, authorization: token.headerValue, sent: &connection.sentFields)
        do throws(HTTP2Error) {
            let stream = try http.submitRequest(encoder.block, body: request.content.payload)
            pool.submitted(submission, stream: stream, nowNanoseconds: loop.nowNanoseconds)
        } catch {
            log.submissionFailed(error.message)
            perform(pool.submissionFailed(submission, nowNanoseconds: loop.nowNanoseconds))
        }
    }

    /// The provider token, asked for at most once a second.
    private func currentToken() -> ProviderToken? {
        let now = loop.nowNanoseconds
        guard now >= tokenCheckedNanoseconds else { return token }
        tokenCheckedNanoseconds = now &+ Self.tokenCheckNanoseconds
        do throws(CryptoError) {
            let newest = try configuration.tokenSource.token()
            if let token, token.keyGeneration != newest.keyGeneration {
                perform(pool.keyReplaced(nowNanoseconds: now))
            }
            token = newest
        } catch {
            fail("no provider token: \(error.message)", hint: "check key_file")
        }
        return token
    }

    // MARK: What connections report

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
        if answer.status == 200 {
            connection.hasAccepted = true
            end(connection, stream, PushAnswer(status: 200, retryAfterSeconds: nil), provesToken: true)
        } else {
            let full = parser.answer(
                status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds)
            let isWaiting =
                full.wedgesConnection && isSentAgain(stream, of: connection, after: full.reason)
                || full.announcesShutdown && isGivenBack(stream, by: connection, after: full.reason)
            if !isWaiting { end(connection, stream, full, provesToken: full.provesToken) }
            // One on which nothing was ever accepted is kept: the next would fare no better.
            if full.throttlesConnection, connection.hasAccepted { replaceFaulty(connection, after: full.reason) }
        }
        touch()
    }

    /// The server said on a connection that it shuts down: the push goes to another, and so will all that follow.
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

    private func end(_ connection: PooledConnection, _ stream: Int32, _ answer: PushAnswer, provesToken: Bool) {
        let ended = pool.answered(
            stream: stream, of: connection.number, provesToken: provesToken, nowNanoseconds: loop.nowNanoseconds)
        guard let ended else { return }
        if provesToken { connection.hasProvenToken = true } else { refusal = answer.reason }
        if answer.status != 200 || kind == .quarantine, let request = requests[ended.push] {
            rejections.note(answer, about: request.token, nowNanoseconds: loop.nowNanoseconds)
        }
        report(push: ended.push, .answered(answer), submittedNanoseconds: ended.submittedNanoseconds)
        if ended.isLastOfDraining, let close = pool.connectionToClose(after: connection.number) { perform([close]) }
    }

    /// The provider token was refused on a connection that may go on to refuse others.
    ///
    /// If the connection took a token before, or a newer token exists by now, the connection is replaced. The pushes
    /// that it refused are sent again: none of them was processed.
    ///
    /// - Returns: whether the push waits again; if not, its answer counts.
    private func isSentAgain(_ stream: Int32, of connection: PooledConnection, after reason: String) -> Bool {
        var isReplaced = connection.hasProvenToken
        if reason == "ExpiredProviderToken",
            let newest = try? configuration.tokenSource.tokenExpired(generation: connection.tokenGeneration)
        {
            if newest.generation > connection.tokenGeneration { isReplaced = true }
            token = newest
        }
        guard isReplaced else { return false }
        let isWaiting = pool.answeredUnprocessed(
            stream: stream, of: connection.number, nowNanoseconds: loop.nowNanoseconds)
        if !connection.isRefused { log.tokenRefused(reason: reason) }
        connection.isRefused = true
        perform(pool.tokenExpired(on: connection.number, nowNanoseconds: loop.nowNanoseconds))
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
            address: connection.address, errorCode: errorCode, reason: parser.reason(inGoAway: debugData))
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
            isCircuitOpen: pool.isCircuitOpen)
        log.changed(from: reported, to: sizes)
        reported = sizes
        reportReachability(sizes)
    }

    /// Says whether the route leads to APNs, when that changes; a short loss of all connections is not worth a word.
    private func reportReachability(_ sizes: EndpointPoolLog.Sizes) {
        guard kind == .main, !pool.isClosing else { return }
        let isConnected = sizes.states.proving + sizes.states.open > 0
        if isConnected { hasWaitedInVain = false }
        guard isConnected || sizes.isCircuitOpen || hasWaitedInVain, reportedReachable != isConnected else { return }
        reportedReachable = isConnected
        owner.routeChanged(RouteChange(route: index / PoolKind.allCases.count, isReachable: isConnected))
    }
}

extension APNsRoute {
    /// The header `:authority`: the port only if it is not the usual one.
    fileprivate var authority: String { port == 443 && !host.contains(":") ? host : endpoint }
}

/// The pools of a route: pools of connections to the same endpoint that do not disturb each other.
///
/// APNs may lower the streams of a connection to one after a rejection, and cuts connections with many rejections
/// sooner. So pushes to tokens that were rejected lately travel on a connection of their own.
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
