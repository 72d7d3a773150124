internal import Crypto
internal import EventLoop
internal import HTTP2

/// One connection of an `APNsProbe`, to one address after the other.
final class ProbeAttempt: HTTP2Handler {
    private static let configuration = {
        var configuration = HTTP2Connection.Configuration()
        configuration.handshakeTimeoutSeconds = 7
        return configuration
    }()

    private let route: APNsRoute
    private let context: TLSContext
    private let loop: EventLoop
    private let ended: (Result<APNsProbe.Report, APNsError>) -> Void
    private var address = ""
    private var remaining: [SocketAddress] = []
    private var tunnel: ProxyTunnel?
    private var report: APNsProbe.Report?

    /// Prepares an attempt.
    ///
    /// - Parameters:
    ///   - route: where to connect to.
    ///   - context: with which certificates are verified.
    ///   - loop: where it runs.
    ///   - ended: called once, on the loop.
    init(
        route: APNsRoute, context: TLSContext, loop: EventLoop,
        ended: @escaping (Result<APNsProbe.Report, APNsError>) -> Void
    ) {
        self.route = route
        self.context = context
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
            return ended(.failure(APNsError(.connectFailed, "\(route.endpoint): \(failure)\(advice)")))
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
            connectToNext(failure: "\(place): \(error)", hint: ConnectionHint.reachability)
        }
    }

    private func tunnelEnded(_ result: Result<Int32, ProxyFailure>) {
        tunnel = nil
        switch result {
        case .success(let socket): begin(over: socket)
        case .failure(let failure):
            if !failure.isAboutAddress { remaining = [] }
            connectToNext(failure: "\(place): \(failure.reason)", hint: failure.hint)
        }
    }

    private func begin(over socket: Int32) {
        do throws(HTTP2Error) {
            let http = try HTTP2Connection(
                client: context, serverName: route.host, socket: socket, loop: loop,
                configuration: Self.configuration, handler: self)
            http.start()
        } catch {
            connectToNext(failure: "\(place): \(error)", hint: ConnectionHint.reachability)
        }
    }

    /// The address as it is reported.
    private var place: String { route.proxy == nil ? address : "proxy \(address)" }

    func http2Ready(_ connection: HTTP2Connection) {
        report = APNsProbe.Report(
            address: place, streamsMaximum: Int(connection.peerMaxConcurrentStreams))
        connection.close()
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {}

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {}

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {}

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        if let report { return ended(.success(report)) }
        connectToNext(failure: "\(place): \(reason)", hint: ConnectionHint.hint(for: reason))
    }
}
