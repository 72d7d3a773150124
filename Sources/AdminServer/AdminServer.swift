import CMicroHTTPD
import Glibc
import Synchronization

/// Serves health and metrics over HTTP, on a thread of its own (libmicrohttpd's): `/livez`, `/readyz`, `/metrics`,
/// `/version`.
///
/// It is meant for the operator's network: it has neither TLS nor passwords, and answers nothing but GET and HEAD.
public final class AdminServer: Sendable {
    private struct Running {
        let daemon: OpaquePointer
        /// What the library hands to each request; held until no request can come any more.
        let routes: Unmanaged<RoutesBox>
    }

    private final class RoutesBox: Sendable {
        let routes: AdminRoutes

        init(_ routes: AdminRoutes) { self.routes = routes }
    }

    private static let connectionsMaximum: UInt32 = 64
    private static let idleSecondsMaximum: UInt32 = 10
    private static let connectionBytesMaximum = 16 * 1_024

    /// The port that it listens on, also where the caller asked for any.
    public let port: UInt16
    private let running: Mutex<Running?>

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - host: an address or a name of this machine.
    ///   - port: the port; 0 lets the system choose one, which the property `port` then tells.
    ///   - routes: the answers.
    /// - Throws: `AdminServerError` if the address cannot be bound.
    public init(host: String, port: UInt16, routes: AdminRoutes) throws(AdminServerError) {
        let (descriptor, boundPort) = try ListeningSocket.open(host: host, port: port)
        let box = Unmanaged.passRetained(RoutesBox(routes))
        let limits = cmicrohttpd_limits(
            connections: Self.connectionsMaximum, idle_seconds: Self.idleSecondsMaximum,
            connection_bytes: Self.connectionBytesMaximum)
        let daemon = cmicrohttpd_start(
            descriptor, limits,
            { context, connection, url, method, _, _, uploadSize, requestContext in
                guard let context, let connection, let url, let method, let uploadSize, let requestContext else {
                    return cmicrohttpd_no()
                }
                // The library calls this once with the head of a request, then for each piece of its body (which is
                // dropped), and at last without one.
                let isHead = requestContext.pointee == nil
                requestContext.pointee = context
                guard !isHead, uploadSize.pointee == 0 else {
                    uploadSize.pointee = 0
                    return cmicrohttpd_yes()
                }
                let routes = Unmanaged<RoutesBox>.fromOpaque(context).takeUnretainedValue().routes
                let answer = AdminResponse.answer(
                    method: String(cString: method), path: String(cString: url), routes: routes)
                return AdminServer.send(answer, to: connection)
            }, box.toOpaque())
        guard let daemon else {
            box.release()
            close(descriptor)
            throw AdminServerError(.failed, "the admin server cannot start its thread; are there too many threads?")
        }
        self.port = boundPort
        running = Mutex(Running(daemon: daemon, routes: box))
    }

    deinit { stop() }

    /// Closes the port and all connections, and waits for the thread; a second call does nothing.
    ///
    /// A request that is being answered is finished first.
    public func stop() {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running.map { (UInt(bitPattern: $0.daemon), $0.routes) }
        }
        guard let (daemon, routes) = stopped else { return }
        MHD_stop_daemon(OpaquePointer(bitPattern: daemon))
        routes.release()
    }

    private static func send(_ answer: AdminResponse, to connection: OpaquePointer) -> MHD_Result {
        let response = answer.body.withUnsafeBytes { cmicrohttpd_response($0.baseAddress, $0.count) }
        guard let response else { return cmicrohttpd_no() }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "\(answer.contentType)")
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store")
        if answer.isMethodRefusal { MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") }
        return MHD_queue_response(connection, answer.status, response)
    }
}
