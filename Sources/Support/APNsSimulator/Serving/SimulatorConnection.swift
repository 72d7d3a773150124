import Crypto
import EventLoop
import HTTP2

/// One connection of a client: its requests, and its provider tokens.
final class SimulatorConnection: HTTP2Handler {
    private unowned let server: SimulatorServer
    private var connection: HTTP2Connection?
    private var requests: [Int32: RequestState] = [:]
    /// The request whose frames came last: mostly the next frame is its own too.
    private var latest: RequestState?
    private var tokens = ProviderTokenSession()
    /// Whether a valid provider token has come: beside `tokens`, because this is looked at for every request.
    private var isAuthenticated = false
    private var isRaised = false
    private var isReady = false
    /// Its number among all connections, counted from 1.
    let number: Int
    /// How many requests have come completely.
    private(set) var requestCount = 0
    /// The greatest stream that may still be answered, as announced by the last GOAWAY.
    private var lastStreamAnnounced = Int32.max
    /// Whether every request is refused because of a provider token that expired here once.
    var isWedged = false

    init(server: SimulatorServer, number: Int) {
        self.server = server
        self.number = number
    }

    /// Begins the handshake; the socket belongs to the connection even if this fails.
    func start(
        socket: Int32, tls: TLSContext, window: (bytes: Int, addedBytes: Int, everyMilliseconds: Int)?
    ) throws(HTTP2Error) {
        let configuration = server.configuration
        var settings = HTTP2Connection.Configuration()
        settings.initialStreamWindowBytes = configuration.streamWindowBytes
        settings.connectionWindowBytes = configuration.connectionWindowBytes
        if let window {
            settings.connectionWindowBytes = UInt32(clamping: window.bytes)
            settings.opensWindows = false
        }
        settings.maxConcurrentStreams =
            configuration.isTrusting ? configuration.maxConcurrentStreams : configuration.maxUnauthenticatedStreams
        let connection = try HTTP2Connection(
            server: tls, socket: socket, loop: server.loop, configuration: settings, handler: self)
        self.connection = connection
        isRaised = settings.maxConcurrentStreams == configuration.maxConcurrentStreams
        connection.start()
        if let window, window.addedBytes > 0 { openWindow(window.addedBytes, window.everyMilliseconds) }
    }

    private func openWindow(_ bytes: Int, _ everyMilliseconds: Int) {
        server.loop.schedule(afterNanoseconds: UInt64(everyMilliseconds) * 1_000_000) { [weak self] in
            guard let self, let connection else { return }
            connection.openConnectionWindow(bytes: Int32(clamping: bytes))
            openWindow(bytes, everyMilliseconds)
        }
    }

    // MARK: Faults

    /// Announces the end, with any last stream; a later one is never greater (RFC 9113 section 6.8).
    ///
    /// It leaves at the end of the tick, and requests above the last stream get no answer from now on.
    func goAway(_ last: Fault.LastStream, errorCode: UInt32, reason: String?, at request: RequestState) {
        let stream: Int32 =
            switch last {
            case .newest: max(request.stream, requests.keys.max() ?? 0)
            case .none: 0
            case .previous: max(0, request.stream - 2)
            case .upTo(let stream): max(0, stream)
            }
        lastStreamAnnounced = min(lastStreamAnnounced, stream)
        let debugData = reason.map { Array("{\"reason\":\"\($0)\"}".utf8) } ?? []
        connection?.goAway(lastStreamID: lastStreamAnnounced, errorCode: errorCode, debugData: debugData)
    }

    /// Ends a stream without an answer.
    func reset(_ request: RequestState, errorCode: UInt32) {
        connection?.resetStream(request.stream, errorCode: errorCode)
    }

    /// Allows fewer streams for a while.
    func limitStreams(to count: Int, backAfterMilliseconds: Int) {
        connection?.submitSettings(maxConcurrentStreams: UInt32(clamping: count))
        server.loop.schedule(afterNanoseconds: UInt64(backAfterMilliseconds) * 1_000_000) { [weak self] in
            guard let self else { return }
            connection?.submitSettings(maxConcurrentStreams: server.configuration.maxConcurrentStreams)
        }
    }

    /// Closes the connection in good order.
    func close() { connection?.close() }

    /// Judges the provider token of a request.
    func authenticate(_ fields: RequestFields, verifier: inout ProviderTokenVerifier) -> Rejection? {
        guard let authorization = fields[.authorization],
            let text = ProviderToken.text(inAuthorization: authorization)
        else { return .missingProviderToken }
        let nowSeconds = server.configuration.wallClockMilliseconds() / 1_000
        if tokens.isCurrent(text) { return tokens.rejectionOfCurrent(nowSeconds: nowSeconds) }
        guard let token = verifier.genuineToken(inAuthorization: text) else { return .invalidProviderToken }
        if let rejection = tokens.admit(token, authorization: text, nowSeconds: nowSeconds) { return rejection }
        isAuthenticated = true
        raiseStreamLimit()
        return nil
    }

    /// Sends an answer.
    ///
    /// - Returns: false if the stream or the connection is gone.
    func respond(to request: RequestState, _ headers: borrowing HeaderBlock, body: [UInt8]) -> Bool {
        guard let connection, !request.isAnswered, request.stream <= lastStreamAnnounced else { return false }
        do {
            try connection.submitResponse(stream: request.stream, headers, body: body)
            request.isAnswered = true
            return true
        } catch {
            return false
        }
    }

    private func raiseStreamLimit() {
        guard !isRaised, let connection else { return }
        isRaised = true
        connection.submitSettings(maxConcurrentStreams: server.configuration.maxConcurrentStreams)
    }

    private func request(on stream: Int32) -> RequestState? {
        if let latest, latest.stream == stream { return latest }
        latest = requests[stream]
        return latest
    }

    private func begin(_ stream: Int32) -> RequestState {
        let request = server.takeRequest(stream: stream)
        requests[stream] = request
        latest = request
        noteOpenStreams()
        return request
    }

    private func noteOpenStreams() {
        let count = requests.count
        if count > server.ledger.summary.concurrentStreamsMaximum {
            server.ledger.summary.concurrentStreamsMaximum = count
        }
        if !isAuthenticated, count > server.ledger.summary.unauthenticatedStreamsMaximum {
            server.ledger.summary.unauthenticatedStreamsMaximum = count
        }
    }

    // MARK: HTTP2Handler

    func http2Ready(_ connection: HTTP2Connection) { isReady = true }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        let request = request(on: stream) ?? begin(stream)
        request.head.add(name: name, value: value)
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        guard !server.configuration.isTrusting else { return }
        request(on: stream)?.body.append(bytes)
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        guard let request = request(on: stream), !request.isComplete else { return }
        request.isComplete = true
        requestCount += 1
        server.requestCompleted(request, on: self)
    }

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        guard let request = requests.removeValue(forKey: stream) else { return }
        if latest === request { latest = nil }
        if !request.isAnswered { server.ledger.summary.abandoned += 1 }
        server.giveBack(request)
    }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        for request in requests.values {
            if !request.isAnswered { server.ledger.summary.abandoned += 1 }
            server.giveBack(request)
        }
        requests = [:]
        latest = nil
        if case .protocolViolation = reason {
            server.ledger.summary.protocolViolations += 1
        } else if !isReady {
            server.ledger.summary.connectionsFailed += 1
        }
        self.connection = nil
        server.connectionClosed(self)
    }
}

/// One request on its way through the simulator; the objects are used again for later requests.
final class RequestState {
    /// The stream that the request came on.
    var stream: Int32 = 0
    /// Changes each time the object is used again, so that a late answer finds out.
    var generation = 0
    /// The headers.
    var head = RequestHead()
    /// The payload.
    var body = RequestBody()
    /// How much later than usual the answer comes, because of a fault.
    var extraDelayNanoseconds: UInt64 = 0
    /// Whether all of the request has come.
    var isComplete = false
    /// Whether the payload is known to be a JSON object.
    var isPayloadChecked = false
    /// Whether it has been answered.
    var isAnswered = false

    /// Makes the object ready for a request.
    func begin(stream: Int32) {
        self.stream = stream
        generation += 1
        head.removeAll()
        body.removeAll()
        extraDelayNanoseconds = 0
        isComplete = false
        isPayloadChecked = false
        isAnswered = false
    }
}
