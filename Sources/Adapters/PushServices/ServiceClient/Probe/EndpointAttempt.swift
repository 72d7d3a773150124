internal import Crypto
internal import EventLoop
internal import HTTP2

/// A connection for one request, or for none, to one address after the other.
final class EndpointAttempt: HTTP2Handler {
    /// The result of the attempt.
    struct Report: Sendable {
        /// The address that answered.
        var address: String
        /// How many streams it allows before it has seen an authorization.
        var streamsMaximum: Int
        /// The answer, if there was a request.
        var answer: EndpointAnswer?
    }

    private static let configuration = {
        var configuration = HTTP2Connection.Configuration()
        configuration.handshakeTimeoutSeconds = 7
        return configuration
    }()

    private let route: ServiceRoute
    private let context: TLSContext
    private let request: EndpointRequest?
    private let timeoutSeconds: Double
    private let loop: EventLoop
    private let ended: (Result<Report, EndpointExchange.Failure>) -> Void
    private var address = ""
    private var remaining: [SocketAddress] = []
    private var tunnel: ProxyTunnel?
    private var report: Report?
    /// The stream of the request; 0 before it was sent.
    private var stream: Int32 = 0
    private var timer: EventLoop.Timer?
    private var http: HTTP2Connection?
    private var failure: String?

    /// Prepares an attempt.
    ///
    /// - Parameters:
    ///   - route: where to connect to.
    ///   - context: with which certificates are verified.
    ///   - request: the request; nil to close the connection when the peer's SETTINGS have arrived.
    ///   - timeoutSeconds: how long the answer may take.
    ///   - loop: where it runs.
    ///   - ended: called once, on the loop.
    init(
        route: ServiceRoute, context: TLSContext, request: EndpointRequest?, timeoutSeconds: Double, loop: EventLoop,
        ended: @escaping (Result<Report, EndpointExchange.Failure>) -> Void
    ) {
        self.route = route
        self.context = context
        self.request = request
        self.timeoutSeconds = timeoutSeconds
        self.loop = loop
        self.ended = ended
    }

    func connect(to addresses: [SocketAddress]) {
        remaining = addresses
        connectToNext(failure: "the name has no address", hint: ConnectionHint.reachability)
    }

    private func connectToNext(failure: String, hint: String?) {
        guard !remaining.isEmpty else {
            let advice = hint.map { "; \($0)" } ?? ""
            return ended(.failure(.notSent(ServiceError(.connectFailed, "\(route.endpoint): \(failure)\(advice)"))))
        }
        let next = remaining.removeFirst()
        address = next.description
        do throws(EventLoopError) {
            let socket = try TCPSocket.connect(to: next)
            guard let proxy = route.proxy else { return begin(over: socket) }
            let tunnel = ProxyTunnel(
                proxy: proxy, socket: socket, target: route.endpoint, loop: loop,
                timeoutSeconds: Self.configuration.handshakeTimeoutSeconds
            ) { [self] in tunnelEnded($0) }
            self.tunnel = tunnel
            tunnel.start()
        } catch {
            connectToNext(failure: "\(displayAddress): \(error)", hint: ConnectionHint.reachability)
        }
    }

    private func tunnelEnded(_ result: Result<Int32, ProxyFailure>) {
        tunnel = nil
        switch result {
        case .success(let socket): begin(over: socket)
        case .failure(let failure):
            if !failure.isAboutAddress { remaining = [] }
            connectToNext(failure: "\(displayAddress): \(failure.reason)", hint: failure.hint)
        }
    }

    private func begin(over socket: Int32) {
        do throws(HTTP2Error) {
            let http = try HTTP2Connection(
                client: context, serverName: route.host, socket: socket, loop: loop,
                configuration: Self.configuration, handler: self)
            http.start()
        } catch {
            connectToNext(failure: "\(displayAddress): \(error)", hint: ConnectionHint.reachability)
        }
    }

    /// The address as reports and errors show it.
    private var displayAddress: String { route.proxy == nil ? address : "proxy \(address)" }

    func http2Ready(_ connection: HTTP2Connection) {
        var report = Report(address: displayAddress, streamsMaximum: Int(connection.peerMaxConcurrentStreams))
        guard let request else {
            self.report = report
            return connection.close()
        }
        report.answer = EndpointAnswer()
        self.report = report
        http = connection
        do throws(HTTP2Error) {
            stream = try connection.submitRequest(headers(of: request), body: request.body)
            timer = loop.schedule(afterNanoseconds: UInt64(timeoutSeconds * 1_000_000_000)) { [self] in
                failure = "no answer within \(timeoutSeconds) seconds"
                http?.close()
            }
        } catch {
            failure = error.message
            connection.close()
        }
    }

    private func headers(of request: EndpointRequest) -> HeaderBlock {
        var headers = HeaderBlock()
        headers.add(":method", value: request.method)
        headers.add(":scheme", value: "https" as StaticString)
        headers.add(":authority", value: route.endpoint)
        headers.add(":path", value: request.path, indexing: .neverAdd)
        for (name, value) in request.headers { headers.add(name, value: value, indexing: .neverAdd) }
        return headers
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) { report?.answer?.add(name: name, value: value) }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        guard report?.answer?.add(body: bytes) == false, failure == nil else { return }
        failure = "the answer is longer than \(EndpointAnswer.bodyBytesMaximum) bytes"
        connection.close()
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {}

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        if errorCode != 0 { failure = "the request was reset with error \(errorCode)" }
        connection.close()
    }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        if let timer { loop.cancel(timer) }
        http = nil
        guard let report else {
            if ConnectionHint.lacksHTTP2(reason) { route.http2Missing?() }
            return connectToNext(failure: "\(displayAddress): \(reason)", hint: ConnectionHint.hint(for: reason))
        }
        if request == nil || failure == nil && report.answer?.status ?? 0 >= 200 { return ended(.success(report)) }
        let text = "\(displayAddress): \(failure ?? "the connection was lost before the answer: \(reason)")"
        ended(.failure(stream == 0 ? .notSent(ServiceError(.connectFailed, text)) : .ambiguous(text)))
    }
}
