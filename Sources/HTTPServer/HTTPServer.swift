import CMicroHTTPD
import Glibc
import Synchronization

/// An HTTP/1.1 server on a thread of its own (libmicrohttpd's), with TLS if it has a certificate.
///
/// Everything that a client can send is bounded: connections, silence, the head, the body, and the requests that wait
/// for an answer from elsewhere. What exceeds a limit is answered with the status that HTTP has for it.
public final class HTTPServer: Sendable {
    private struct Running {
        let daemon: UInt
        /// What the library hands to each callback; held until none can come any more.
        let core: Unmanaged<Core>
        /// PEM texts that the library reads where they are.
        let texts: [UInt]
    }

    /// The port that it listens on, also where the caller asked for any.
    public let port: UInt16
    private let core: Core
    private let running: Mutex<Running?>

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - configuration: the address and the limits.
    ///   - handler: answers the requests.
    /// - Throws: `HTTPServerError` if the address cannot be bound, or the certificate does not serve.
    public init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) throws(HTTPServerError) {
        let (descriptor, boundPort) = try ListeningSocket.open(configuration)
        core = Core(configuration: configuration, handler: handler)
        let context = Unmanaged.passRetained(core)
        let texts = [configuration.tls?.certificateChainPEM, configuration.tls?.privateKeyPEM].compactMap { text in
            text.flatMap { strdup($0) }
        }
        let options = cmicrohttpd_options(
            listening_socket: descriptor, connections: UInt32(clamping: configuration.connectionsMaximum),
            idle_seconds: UInt32(clamping: configuration.idleSecondsMaximum),
            // Half of the memory is for the answer.
            connection_bytes: 2 * configuration.headBytesMaximum,
            certificate: texts.first.map { UnsafePointer($0) }, key: texts.last.map { UnsafePointer($0) })
        guard let daemon = cmicrohttpd_start(options, Self.callbacks(context.toOpaque())) else {
            context.release()
            for text in texts { free(text) }
            close(descriptor)
            throw configuration.tls == nil
                ? HTTPServerError(
                    .failed, "\(configuration.name) cannot start its thread; are there too many threads?")
                : HTTPServerError(
                    .certificateInvalid,
                    "\(configuration.name) cannot serve with its certificate: does the key belong to it?")
        }
        port = boundPort
        running = Mutex(
            Running(
                daemon: UInt(bitPattern: daemon), core: context, texts: texts.map { UInt(bitPattern: $0) }))
    }

    deinit { stop() }

    /// How many requests are known, answered or not: none on a server where nothing happens.
    var exchangeCount: Int { core.exchangeCount }

    /// Refuses new requests, lets those that wait be answered, then closes the port and all connections, and waits for
    /// the thread; a second call does nothing.
    ///
    /// - Parameter graceMilliseconds: how long requests that were deferred may take; what is not answered by then gets
    ///   a 503.
    public func stop(graceMilliseconds: Int32 = 1_000) {
        guard let stopped = running.withLock({ $0.take() }) else { return }
        core.finish(graceMilliseconds: graceMilliseconds)
        MHD_stop_daemon(OpaquePointer(bitPattern: stopped.daemon))
        stopped.core.release()
        for text in stopped.texts { free(UnsafeMutableRawPointer(bitPattern: text)) }
    }
}
