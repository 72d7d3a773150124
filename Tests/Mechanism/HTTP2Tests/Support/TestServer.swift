import Crypto
import EventLoop
import Glibc
import HTTP2
import PushTestKit

/// An HTTP/2 server on a loop of its own, made of the connection under test.
struct TestServer: Sendable {
    /// Lives on the server's loop.
    final class Content {
        var listener: TCPListener?
        var connections: [HTTP2Connection] = []
        var probes: [Probe] = []
        let requestReceived: @Sendable (HTTP2Connection, Int32, Probe.Message) -> Void

        init(requestReceived: @escaping @Sendable (HTTP2Connection, Int32, Probe.Message) -> Void) {
            self.requestReceived = requestReceived
        }
    }

    let port: UInt16
    let loop: EventLoop
    private let content: LoopBound<Content>

    private init(_ content: sending Content, port: UInt16, loop: EventLoop) {
        self.port = port
        self.loop = loop
        self.content = LoopBound(content, to: loop)
    }

    /// Starts a server.
    static func start(
        context: TLSContext, configuration: HTTP2Connection.Configuration = .init(),
        requestReceived: @escaping @Sendable (HTTP2Connection, Int32, Probe.Message) -> Void = TestServer.echo
    ) async throws -> TestServer {
        let loop = try EventLoop(name: "test-server")
        return try await loop.run {
            let content = Content(requestReceived: requestReceived)
            let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { [unowned content] descriptor in
                Self.accept(descriptor, content, context, configuration, loop)
            }
            content.listener = listener
            let port = listener.port
            return TestServer(content, port: port, loop: loop)
        }
    }

    private static func accept(
        _ descriptor: Int32, _ content: Content, _ context: TLSContext,
        _ configuration: HTTP2Connection.Configuration, _ loop: EventLoop
    ) {
        let probe = Probe(loop: loop)
        probe.onStreamEnded = { [unowned content] connection, stream, message in
            content.requestReceived(connection, stream, message)
        }
        let connection = try? HTTP2Connection(
            server: context, socket: descriptor, loop: loop, configuration: configuration, handler: probe)
        guard let connection else { return }
        content.connections.append(connection)
        content.probes.append(probe)
        connection.start()
    }

    /// Answers with the body of the request.
    static func echo(_ connection: HTTP2Connection, _ stream: Int32, _ message: Probe.Message) {
        respond(connection, stream, body: message.body)
    }

    /// Answers 200; a stream that the client has given up is not answered.
    static func respond(_ connection: HTTP2Connection, _ stream: Int32, body: [UInt8]) {
        var headers = HeaderBlock()
        headers.add(":status", value: "200")
        headers.add("content-length", value: body.count)
        try? connection.submitResponse(stream: stream, headers, body: body)
    }

    /// Runs `work` on the loop with the connections so far.
    @discardableResult
    func run<Result: Sendable>(
        _ work: @escaping @Sendable ([HTTP2Connection], [Probe]) throws -> Result
    ) async throws -> Result {
        try await loop.run { [content] in try work(content.value.connections, content.value.probes) }
    }

    /// Waits until a condition holds for the newest connection, of which there must be one.
    func wait(until condition: @escaping @Sendable (Probe) -> Bool) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            loop.submit { [content] in
                guard let probe = content.value.probes.last else {
                    return continuation.resume(throwing: TestFailure("no connection yet"))
                }
                probe.wait(until: condition, continuation)
            }
        }
    }

    /// Closes everything and waits for the loop's thread.
    func stop() async throws {
        try await loop.run { [content] in
            content.value.listener?.close()
            for connection in content.value.connections { connection.close() }
        }
        loop.stopAndJoin()
    }
}

/// Certificates for tests, and the files that make them trusted.
struct TestIdentity: Sendable {
    static let hour: Int64 = 3_600

    let identity: ServerIdentity
    /// Path of the certificate as a PEM file, which is there for as long as the identity is.
    let certificateFile: String
    /// Path of the private key as a PEM file.
    let keyFile: String
    private let folder: TemporaryFolder

    init(
        names: [String] = ["localhost", "127.0.0.1"], validFromSeconds: Int64 = -hour, validUntilSeconds: Int64 = hour
    ) throws {
        folder = try TemporaryFolder()
        let now = Int64(time(nil))
        identity = try ServerIdentity.selfSigned(
            names: names, notBeforeSeconds: now + validFromSeconds, notAfterSeconds: now + validUntilSeconds)
        certificateFile = try folder.write("certificate.pem", identity.certificateChainPEM)
        keyFile = try folder.write("key.pem", identity.privateKeyPEM)
    }

    func clientContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try withExtendedLifetime(folder) {
            try TLSContext.client(extraTrustAnchorsFile: certificateFile, applicationProtocols: protocols)
        }
    }

    func serverContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try TLSContext.server(identity, applicationProtocols: protocols)
    }
}

/// A test cannot go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
