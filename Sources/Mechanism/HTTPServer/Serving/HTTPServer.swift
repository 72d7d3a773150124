public import Crypto
import EventLoop
import Glibc
import Synchronization

/// An HTTP/1.1 server on a loop of its own, with TLS if it has a certificate.
///
/// It reads strictly (RFC 9112), and everything that a client can send or leave unread is bounded: connections in all
/// and of each address, the time of heads, bodies, answers and silence, the length of heads and bodies, the memory of
/// all bodies and answers together, and the requests that wait for an answer from elsewhere. What exceeds a limit is
/// answered with the status that HTTP has for it.
public final class HTTPServer: Sendable {
    /// The port that it listens on, also where the caller asked for any.
    public let port: UInt16
    private let core: LoopBound<HTTPServerCore>
    private let mailbox: HTTPServerMailbox
    private let isStopped = Atomic<Bool>(false)

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - configuration: the address and the limits.
    ///   - handler: answers the requests.
    /// - Throws: `HTTPServerError` if the address cannot be bound, or the certificate does not serve.
    public init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) throws(HTTPServerError) {
        let tls = try configuration.identity.map { identity throws(HTTPServerError) in
            try Self.context(identity, configuration.name)
        }
        let socket: Int32
        do throws(EventLoopError) {
            (socket, port) = try TCPSocket.listen(host: configuration.host, port: configuration.port)
        } catch {
            throw HTTPServerError(error, configuration)
        }
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: "http-\(port)")
        } catch {
            close(socket)
            throw HTTPServerError(.failed, "\(configuration.name) cannot start its thread: \(error)")
        }
        core = LoopBound(
            HTTPServerCore(loop: loop, configuration: configuration, tls: tls, handler: handler), to: loop)
        mailbox = HTTPServerMailbox(core: core, bytesMaximum: configuration.answerBytesInMemoryMaximum)
        loop.submit { [core, mailbox, port] in core.value.start(socket, port: port, mailbox: mailbox) }
    }

    deinit { stop() }

    /// How many requests are known, answered or not: none on a server where nothing happens.
    var requestCount: Int { mailbox.requestCount }

    /// How much of bodies and answers it holds.
    func memory() async throws -> HTTPServerMemory { try await core.loop.run { [core] in core.value.memory } }

    /// Shows another certificate to the clients that connect from now on; connections that there are go on.
    ///
    /// - Parameter identity: the chain and its key.
    /// - Throws: `HTTPServerError`, `.certificateInvalid`; the old one is shown then.
    public func replace(identity: ServerIdentity) throws(HTTPServerError) {
        let tls = try Self.context(identity, "the server")
        core.loop.submit { [core] in core.value.replace(tls: tls) }
    }

    /// Refuses new requests, lets those that wait be answered, then closes the port and all connections, and waits for
    /// the thread; a second call does nothing.
    ///
    /// - Parameter graceMilliseconds: how long requests that were deferred may take; what is not answered by then gets
    ///   a 503.
    public func stop(graceMilliseconds: Int32 = 1_000) {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            // The other end is closed on the loop when all is answered, which wakes the wait.
            let written = ends[1]
            core.loop.submit { [core] in core.value.drain { close(written) } }
            var waited = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            // A signal must not cut the time short.
            while poll(&waited, 1, graceMilliseconds) < 0, errno == EINTR {}
        }
        core.loop.submit { [core] in core.value.end() }
        core.loop.stopAndJoin()
        if ends[0] >= 0 { close(ends[0]) }
    }

    private static func context(_ identity: ServerIdentity, _ name: String) throws(HTTPServerError) -> TLSContext {
        do throws(CryptoError) {
            return try TLSContext.server(identity, applicationProtocols: [], isForManyConnections: true)
        } catch {
            throw HTTPServerError(.certificateInvalid, "\(name) cannot serve with its certificate: \(error.message)")
        }
    }
}
