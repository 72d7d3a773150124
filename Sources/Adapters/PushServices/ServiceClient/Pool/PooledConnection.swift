internal import EventLoop
internal import HTTP2

/// One connection of a route: passes on what HTTP/2 reports, and puts answers together.
///
/// Lives on its route's loop. The route and the connection hold each other until `http2Closed`, which comes exactly
/// once for every connection that was started.
final class PooledConnection {
    /// The pool's number of the connection.
    let number: Int
    private let route: EndpointPool
    private(set) var http: HTTP2Connection?
    /// The address that it is connected to, for spreading connections and for logs.
    private(set) var address = ""
    /// Addresses to try if this one cannot be reached.
    private var remaining: [SocketAddress] = []
    /// Asks the proxy for the way to the endpoint.
    private var tunnel: ProxyTunnel?
    private(set) var isReady = false
    /// Whether the pool has given it up, so that its end is no news.
    var isForgotten = false
    /// Whether the peer has announced the end, which then is no failure.
    var isGoingAway = false
    var sentFields: SentFields = []
    /// What its answers have said of our authorization.
    var authorization = ConnectionAuthorization()
    /// Whether a push was accepted on it.
    var hasAccepted = false
    /// Whether the connection is being replaced because of its answers.
    var isRefused = false

    private var current = PartialAnswer()
    /// Answers that others came between.
    private var interrupted: [Int32: PartialAnswer] = [:]

    init(number: Int, route: EndpointPool) {
        self.number = number
        self.route = route
    }

    /// Connects to the first address that can be reached.
    func connect(to addresses: [SocketAddress]) {
        remaining = addresses
        connectToNext(failure: "the name has no address")
    }

    private func connectToNext(failure: String) {
        guard !isForgotten, !remaining.isEmpty else {
            return route.connectionFailed(self, reason: failure, hint: ConnectionHint.reachability)
        }
        let next = remaining.removeFirst()
        address = next.description
        do throws(EventLoopError) {
            let socket = try TCPSocket.connect(to: next)
            guard let proxy = route.configuration.proxy else { return begin(over: socket) }
            let tunnel = ProxyTunnel(
                proxy: proxy, socket: socket, target: route.configuration.endpoint, loop: route.loop,
                timeoutSeconds: EndpointPool.http2Configuration.handshakeTimeoutSeconds
            ) { [self] in tunnelEnded($0) }
            self.tunnel = tunnel
            tunnel.start()
        } catch {
            route.addressFailed(address)
            connectToNext(failure: "\(displayAddress): \(error)")
        }
    }

    private func tunnelEnded(_ result: Result<Int32, ProxyFailure>) {
        tunnel = nil
        switch result {
        case .success(let socket): begin(over: socket)
        case .failure(let failure):
            let reason = "\(displayAddress): \(failure.reason)"
            guard failure.isAboutAddress, !remaining.isEmpty else {
                return route.connectionFailed(self, reason: reason, hint: failure.hint)
            }
            route.addressFailed(address)
            connectToNext(failure: reason)
        }
    }

    private func begin(over socket: Int32) {
        do throws(HTTP2Error) {
            let http = try HTTP2Connection(
                client: route.context, serverName: route.configuration.host, socket: socket, loop: route.loop,
                configuration: EndpointPool.http2Configuration, handler: self)
            self.http = http
            http.start()
        } catch {
            connectToNext(failure: "\(displayAddress): \(error)")
        }
    }

    /// The address as logs and errors show it.
    var displayAddress: String { route.configuration.proxy == nil ? address : "proxy \(address)" }

    /// Cancels the tunnel through the proxy, if it is not established yet.
    func cancelTunnel() {
        tunnel?.cancel()
        tunnel = nil
    }

    /// The answer on a stream, as far as its final status has arrived; the connection forgets it.
    func takeAnswer(stream: Int32) -> PartialAnswer? {
        if current.stream == stream {
            defer { current.reset(stream: 0) }
            return current.hasFinalStatus ? current : nil
        }
        guard let answer = interrupted.removeValue(forKey: stream) else { return nil }
        return answer.hasFinalStatus ? answer : nil
    }

    /// The streams on which an answer has begun.
    var streamsWithAnswers: [Int32] { (current.stream > 0 ? [current.stream] : []) + interrupted.keys.sorted() }

    /// Makes `current` the answer on a stream.
    private func turn(to stream: Int32) {
        guard current.stream != stream else { return }
        if current.stream > 0 { interrupted[current.stream] = current }
        if let answer = interrupted.removeValue(forKey: stream) {
            current = answer
        } else {
            current.reset(stream: stream)
        }
    }
}

extension PooledConnection: HTTP2Handler {
    func http2Ready(_ connection: HTTP2Connection) {
        isReady = true
        remaining = []
        route.connectionReady(self, streamsMaximum: Int(connection.peerMaxConcurrentStreams))
    }

    func http2SettingsReceived(_ connection: HTTP2Connection) {
        route.settingsChanged(self, streamsMaximum: Int(connection.peerMaxConcurrentStreams))
    }

    func http2WindowOpened(_ connection: HTTP2Connection) { route.windowChanged(self) }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        turn(to: stream)
        if current.add(name: name, value: value) { cut(stream, connection) }
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        turn(to: stream)
        if current.add(body: bytes) { cut(stream, connection) }
    }

    /// Ends a stream whose answer is longer than any that a push service means: what has come of it counts.
    private func cut(_ stream: Int32, _ connection: HTTP2Connection) {
        connection.resetStream(stream, errorCode: EndpointPool.cancelCode)
    }

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        if current.stream == stream, current.hasFinalStatus {
            route.answered(self, stream: stream, answer: current)
            current.reset(stream: 0)
        } else if let answer = takeAnswer(stream: stream) {
            route.answered(self, stream: stream, answer: answer)
        } else {
            route.streamReset(self, stream: stream, errorCode: errorCode)
        }
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {}

    func http2GoAwayReceived(
        _ connection: HTTP2Connection, lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]
    ) {
        route.goAwayReceived(self, lastStream: lastStreamID, errorCode: errorCode, debugData: debugData)
    }

    func http2PingAcknowledged(_ connection: HTTP2Connection, opaque: UInt64) { route.pingAcknowledged(self) }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        http = nil
        if isReady || isForgotten {
            route.connectionLost(self, reason: reason, lastWrittenStream: connection.lastWrittenStreamID)
        } else if case .transport(let text) = reason {
            route.addressFailed(address)
            connectToNext(failure: "\(displayAddress): \(text)")
        } else {
            if ConnectionHint.lacksHTTP2(reason) { route.configuration.http2Missing?() }
            route.connectionFailed(
                self, reason: "\(displayAddress): \(reason)", hint: ConnectionHint.hint(for: reason),
                isEndpointUnusable: ConnectionHint.isEndpointUnusable(reason))
        }
    }
}
