import Crypto
import EventLoop
public import HTTP2

/// Decides about the requests of one connection, and knows of their sender what the service remembers of it.
public protocol RequestHandler: AnyObject {
    /// The answer to every request on a wedged connection.
    var wedgedAnswer: ServiceAnswer { get }
    /// Decides about a request that has come completely.
    func requestCompleted(_ request: RequestState, on connection: SimulatorConnection)
    /// Gives an answer whose time has come, by the number that was handed to `SimulatorServer.answer`.
    func give(_ answer: Int, to request: RequestState, on connection: SimulatorConnection)
    /// Records the answer that a fault gave.
    func record(_ answer: ServiceAnswer, to request: RequestState)
}

/// One connection of a client: its requests, and what faults have made of it.
public final class SimulatorConnection {
    private unowned let server: SimulatorServer
    private var handler: (any RequestHandler)?
    private var connection: HTTP2Connection?
    private var requests: [Int32: RequestState] = [:]
    /// The request whose frames came last: mostly the next frame is its own too.
    private var latest: RequestState?
    /// Whether the sender has shown who it is.
    private var isAuthenticated = false
    private var isRaised = false
    private var isReady = false
    /// Its number among all connections, counted from 1.
    let number: Int
    /// How many requests have come completely.
    private(set) var requestCount = 0
    /// The greatest stream that may still be answered, as announced by the last GOAWAY.
    private var lastStreamAnnounced = Int32.max
    /// Whether every request is refused, because of credentials that expired here once.
    var isWedged = false

    init(server: SimulatorServer, number: Int) {
        self.server = server
        self.number = number
    }

    /// Begins the handshake; the socket belongs to the connection even if this fails.
    func start(
        socket: Int32, tls: TLSContext, window: (bytes: Int, addedBytes: Int, everyMilliseconds: Int)?,
        handler: any RequestHandler
    ) throws(HTTP2Error) {
        self.handler = handler
        let configuration = server.configuration
        var settings = HTTP2Connection.Configuration()
        settings.initialStreamWindowBytes = configuration.streamWindowBytes
        settings.connectionWindowBytes = configuration.connectionWindowBytes
        if let window {
            settings.connectionWindowBytes = UInt32(clamping: window.bytes)
            settings.opensWindows = false
        }
        settings.maxConcurrentStreams = configuration.maxConcurrentStreams
        if !configuration.isTrusting, let maximum = server.traits.unauthenticatedStreamsMaximum {
            settings.maxConcurrentStreams = maximum
        }
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

    /// Notes that the sender has shown who it is, and allows it as many streams as a known one has.
    public func authenticated() {
        isAuthenticated = true
        guard !isRaised, let connection else { return }
        isRaised = true
        connection.submitSettings(maxConcurrentStreams: server.configuration.maxConcurrentStreams)
    }

    /// Sends an answer.
    ///
    /// - Returns: false if the stream or the connection is gone.
    public func respond(to request: RequestState, _ headers: borrowing HeaderBlock, body: [UInt8]) -> Bool {
        guard let connection, !request.isAnswered, request.stream <= lastStreamAnnounced else { return false }
        if request.losesAnswer {
            request.isAnswered = true
            server.counts.lostAnswers += 1
            return true
        }
        let body = body.count > request.answerBytesMaximum ? Array(body.prefix(request.answerBytesMaximum)) : body
        do {
            try connection.submitResponse(stream: request.stream, headers, body: body)
            request.isAnswered = true
            return true
        } catch {
            return false
        }
    }

    /// Gives the handler an answer whose time has come.
    func give(_ answer: Int, to request: RequestState) { handler?.give(answer, to: request, on: self) }

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
        let debugData = reason.map(server.traits.goAwayDebugData) ?? []
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

    /// Answers as on every connection that is wedged.
    func refuse(_ request: RequestState) {
        guard let handler else { return }
        give(handler.wedgedAnswer, to: request)
    }

    /// Gives the answer of a fault.
    func give(_ answer: ServiceAnswer, to request: RequestState) {
        var headers = HeaderBlock()
        headers.add(answer)
        guard respond(to: request, headers, body: answer.body) else { return }
        handler?.record(answer, to: request)
    }

    /// Begins an answer that never ends; it stops when the client ends the stream or the connection.
    func giveWithoutEnd(_ part: Fault.Endless, status: Int, to request: RequestState) {
        var headers = HeaderBlock()
        headers.add(":status", value: String(status))
        guard let connection, !request.isAnswered else { return }
        request.isAnswered = true
        switch part {
        case .body:
            let bytes = [UInt8](repeating: UInt8(ascii: "z"), count: Self.endlessBytes)
            try? connection.submitEndlessResponse(stream: request.stream, headers, repeating: bytes)
        case .information: inform(request.stream, generation: request.generation, request)
        }
    }

    /// As much of an endless answer as is sent at a time.
    private static let endlessBytes = 16_384

    private func inform(_ stream: Int32, generation: Int, _ request: RequestState) {
        guard let connection, request.stream == stream, request.generation == generation else { return }
        var headers = HeaderBlock()
        headers.add(":status", value: "103")
        headers.add("link", value: String(repeating: "x", count: Self.endlessBytes / 4))
        do { try connection.submitInformation(stream: stream, headers) } catch { return }
        server.loop.schedule(afterNanoseconds: 1_000_000) { [weak self] in
            self?.inform(stream, generation: generation, request)
        }
    }

    /// Closes the connection in good order.
    func close() { connection?.close() }

    // MARK: Requests

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
        if count > server.counts.concurrentStreamsMaximum { server.counts.concurrentStreamsMaximum = count }
        if !isAuthenticated, count > server.counts.unauthenticatedStreamsMaximum {
            server.counts.unauthenticatedStreamsMaximum = count
        }
    }
}

extension SimulatorConnection: HTTP2Handler {
    /// Notes that HTTP/2 has begun.
    public func http2Ready(_ connection: HTTP2Connection) { isReady = true }

    /// Keeps the header if the service looks at it.
    public func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        let request = request(on: stream) ?? begin(stream)
        request.add(name: name, value: value)
    }

    /// Keeps as much of the body as the service could accept.
    public func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        guard !server.configuration.isTrusting else { return }
        request(on: stream)?.body.append(bytes)
    }

    /// Hands the request to the handler.
    public func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        guard let request = request(on: stream), !request.isComplete else { return }
        request.isComplete = true
        requestCount += 1
        handler?.requestCompleted(request, on: self)
    }

    /// Gives the request's memory back.
    public func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        guard let request = requests.removeValue(forKey: stream) else { return }
        if latest === request { latest = nil }
        if !request.isAnswered { server.counts.abandoned += 1 }
        server.giveBack(request)
    }

    /// Gives the memory of all requests back.
    public func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        for request in requests.values {
            if !request.isAnswered { server.counts.abandoned += 1 }
            server.giveBack(request)
        }
        requests = [:]
        latest = nil
        if case .protocolViolation = reason {
            server.counts.protocolViolations += 1
        } else if !isReady {
            server.counts.connectionsFailed += 1
        }
        self.connection = nil
        server.connectionClosed(self)
    }
}

extension HeaderBlock {
    /// Adds the headers of an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - date: the header `date`; nil for none.
    ///   - challenge: the header `www-authenticate`; nil for none.
    mutating func add(_ answer: ServiceAnswer, date: [UInt8]? = nil, challenge: String? = nil) {
        add(":status", value: answer.status)
        if let type = answer.contentType { add("content-type", value: type) }
        if let date { add("date", value: date) }
        if let challenge { add("www-authenticate", value: challenge) }
        if let retryAfter = answer.retryAfter { add("retry-after", value: retryAfter) }
        for header in answer.headers { add(header.name, value: header.value) }
        if answer.extraHeaderBytes > 0 {
            add("x-extra", value: String(repeating: "x", count: answer.extraHeaderBytes))
        }
    }
}
