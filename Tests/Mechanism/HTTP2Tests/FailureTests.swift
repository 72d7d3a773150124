import Crypto
import Dispatch
import EventLoop
import Glibc
import HTTP2
import PushTestKit
import Testing

@Suite("HTTP/2 connections that fail")
struct FailureTests {
    /// Connects and answers why the connection ended.
    private func endReason(
        port: UInt16, identity: TestIdentity, serverName: String = "localhost", timeoutSeconds: Double = 60,
        isTrusted: Bool = true, prepare: @escaping @Sendable (Probe) -> Void = { _ in }
    ) async throws -> HTTP2CloseReason {
        let loop = try EventLoop(name: "test-client")
        var limits = HTTP2Connection.Configuration()
        limits.handshakeTimeoutSeconds = timeoutSeconds
        let context =
            isTrusted
            ? try identity.clientContext()
            : try TLSContext.client(extraTrustAnchorsFile: nil, applicationProtocols: ["h2"])
        let client = try await Endpoint.connect(
            to: port, context: context, on: loop, serverName: serverName, configuration: limits, prepare: prepare)
        try await client.wait { $0.closeReason != nil }
        let (reason, count) = try await client.run { _, probe in (probe.closeReason, probe.closeReasons.count) }
        // A second report would come in a later tick at the latest.
        try await loop.run {}
        #expect(count == 1)
        loop.stopAndJoin()
        return try #require(reason)
    }

    @Test("A certificate for another name, out of time or of an unknown issuer ends the handshake with the reason")
    func rejectedCertificateEndsHandshake() async throws {
        let valid = try TestIdentity(names: ["localhost", "127.0.0.1"])
        let expired = try TestIdentity(validFromSeconds: -7_200, validUntilSeconds: -3_600)
        let cases: [(identity: TestIdentity, name: String, isTrusted: Bool, words: String)] = [
            (valid, "elsewhere.example.com", true, "another name"), (valid, "127.0.0.2", true, "another name"),
            (expired, "localhost", true, "expired"), (valid, "localhost", false, "trust anchor"),
        ]
        for (identity, name, isTrusted, words) in cases {
            let server = try await TestServer.start(context: try identity.serverContext())
            let reason = try await endReason(
                port: server.port, identity: identity, serverName: name, isTrusted: isTrusted)
            guard case .tls(let error) = reason else {
                Issue.record("\(reason)")
                continue
            }
            #expect(error.code == .certificateRejected)
            #expect(error.message.contains(words), "\(error.message)")
            try await server.stop()
        }
    }

    @Test("An address is verified against the addresses of the certificate")
    func addressIsVerified() async throws {
        let identity = try TestIdentity(names: ["127.0.0.1"])
        let server = try await TestServer.start(context: try identity.serverContext())
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(
            to: server.port, context: try identity.clientContext(), on: loop, serverName: "127.0.0.1")
        try await client.wait { $0.readyCount == 1 }
        try await client.close()
        try await server.stop()
        loop.stopAndJoin()
    }

    @Test("A server without HTTP/2 in ALPN is told apart")
    func missingProtocolIsNamed() async throws {
        let identity = try TestIdentity()
        let server = try await RawServer.start(
            context: try identity.serverContext(protocols: []), bytes: [], closesWhenWritten: false)
        let reason = try await endReason(port: server.port, identity: identity)
        guard case .noHTTP2 = reason else { throw TestFailure("\(reason)") }
        try await server.stop()
    }

    @Test("A server without TLS is told apart")
    func plainServerIsNamed() async throws {
        let identity = try TestIdentity()
        let server = try await RawServer.start(
            context: nil, bytes: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), closesWhenWritten: false)
        let reason = try await endReason(port: server.port, identity: identity)
        guard case .tls(let error) = reason else { throw TestFailure("\(reason)") }
        #expect(error.code == .protocolMissing)
        try await server.stop()
    }

    @Test("What the peer said before it reset the connection is read, although a write has failed first")
    func goAwayBeforeReset() async throws {
        let identity = try TestIdentity()
        let server = try await RawServer.start(
            context: try identity.serverContext(), bytes: Frames.emptySettings, closesWhenWritten: false)
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(to: server.port, context: try identity.clientContext(), on: loop)
        try await client.wait { $0.settingsCount > 0 }
        // The client stands still until the peer is gone, and then writes before it looks whether there is something.
        let gate = DispatchSemaphore(value: 0)
        client.submit { connection in
            gate.wait()
            _ = try? Endpoint.post(connection, "/a", body: [])
        }
        let goAway = Frames.frame(type: 7, flags: 0, stream: 0, payload: [UInt8](repeating: 0, count: 8))
        try await server.sayAndReset(goAway)
        gate.signal()
        try await client.wait { $0.closeReason != nil }
        #expect(try await client.run { _, probe in probe.goAways.map(\.lastStreamID) } == [0])
        loop.stopAndJoin()
        try await server.stop()
    }

    @Test("A port where nobody listens is a transport failure")
    func refusedConnectionIsNamed() async throws {
        let identity = try TestIdentity()
        let (descriptor, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(descriptor)
        let reason = try await endReason(port: port, identity: identity)
        guard case .transport(let text) = reason else { throw TestFailure("\(reason)") }
        #expect(text.contains("refused"), "\(text)")
    }

    @Test("A server that never answers, in TLS or in HTTP/2, is given up after the timeout")
    func silentServerIsAbandoned() async throws {
        let identity = try TestIdentity()
        for context in [nil, try identity.serverContext()] {
            let server = try await RawServer.start(context: context, bytes: [], closesWhenWritten: false)
            let reason = try await endReason(port: server.port, identity: identity, timeoutSeconds: 0.2)
            guard case .transport(let text) = reason else { throw TestFailure("\(reason)") }
            #expect(text.contains(context == nil ? "handshake" : "SETTINGS"), "\(text)")
            try await server.stop()
        }
    }

    @Test("A client that never says anything is given up by the server")
    func silentClientIsAbandoned() async throws {
        let identity = try TestIdentity()
        var limits = HTTP2Connection.Configuration()
        limits.handshakeTimeoutSeconds = 0.2
        let server = try await TestServer.start(context: try identity.serverContext(), configuration: limits)
        let descriptor = try TCPSocket.connect(host: "127.0.0.1", port: server.port)
        defer { close(descriptor) }
        let loop = try EventLoop(name: "test-client")
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            loop.submit {
                do {
                    _ = try RawPeer(
                        loop: loop, descriptor: dup(descriptor), tls: nil, bytes: [], closesWhenWritten: false
                    ) {
                        continuation.resume()
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(try await server.run { _, probes in probes[0].closeReasons.count } == 1)
        try await server.stop()
        loop.stopAndJoin()
    }

    @Test(
        "Bytes that are no HTTP/2 end the connection as a protocol violation",
        arguments: [
            Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8),
            Frames.frame(type: 6, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
            Frames.emptySettings + Frames.frame(type: 4, flags: 0, stream: 1, payload: []),
            Frames.emptySettings + Frames.frame(type: 0, flags: 0, stream: 9, payload: [1]),
            Frames.emptySettings + Frames.frame(type: 1, flags: 4, stream: 1, payload: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            Frames.emptySettings + Frames.frame(type: 8, flags: 0, stream: 0, payload: [0, 0, 0, 0]),
            [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 1, 2, 3],
        ])
    func foreignBytesAreViolation(bytes: [UInt8]) async throws {
        let identity = try TestIdentity()
        let server = try await RawServer.start(
            context: try identity.serverContext(), bytes: bytes, closesWhenWritten: false)
        let reason = try await endReason(port: server.port, identity: identity)
        guard case .protocolViolation(let text) = reason else { throw TestFailure("\(reason)") }
        #expect(!text.isEmpty)
        try await server.stop()
    }

    @Test("Two hundred runs of random frames from a server end the connection once each, with a request open")
    func randomFramesFromServer() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let identity = try TestIdentity()
        let server = try await RawServer.start(
            context: try identity.serverContext(), bytes: [], closesWhenWritten: true)
        let loop = try EventLoop(name: "test-client")
        let context = try identity.clientContext()
        for _ in 0..<200 {
            try await server.say(Frames.emptySettings + Frames.random(using: &generator))
            let client = try await Endpoint.connect(to: server.port, context: context, on: loop) { probe in
                probe.onReady = { connection in
                    for _ in 0..<3 { _ = try? Endpoint.post(connection, "/open", body: [1, 2, 3]) }
                }
            }
            try await client.wait { $0.closeReason != nil }
            #expect(try await client.run { _, probe in probe.closeReasons.count } == 1, "seed \(seed)")
        }
        loop.stopAndJoin()
        try await server.stop()
    }

    @Test("Two hundred runs of random frames from a client leave a server that serves the next one")
    func randomFramesFromClient() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let loop = try EventLoop(name: "test-client")
        let context = try identity.clientContext()
        for round in 0..<200 {
            let preface = round % 10 == 0 ? [] : Frames.clientPreface + Frames.emptySettings
            let bytes = preface + Frames.random(using: &generator)
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                loop.submit { [port = server.port] in
                    do {
                        let descriptor = try TCPSocket.connect(host: "127.0.0.1", port: port)
                        let session = try TLSSession(client: context, socket: descriptor, serverName: "localhost")
                        _ = try RawPeer(
                            loop: loop, descriptor: descriptor, tls: session, bytes: bytes, closesWhenWritten: true
                        ) { continuation.resume() }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
        let client = try await Endpoint.connect(to: server.port, context: context, on: loop)
        try await client.wait { $0.readyCount == 1 }
        #expect(
            try await client.response(on: try await client.post("/echo", body: [1, 2])).body == [1, 2], "seed \(seed)")
        try await client.close()
        try await server.run { _, probes in
            #expect(probes.allSatisfy { $0.closeReasons.count <= 1 }, "seed \(seed)")
        }
        try await server.stop()
        loop.stopAndJoin()
    }

    @Test("A connection that is cut after any number of bytes from the server ends once, and never hangs")
    func cutConnectionEnds() async throws {
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let proxy = try await CuttingProxy.start(to: server.port)
        let loop = try EventLoop(name: "test-client")
        let context = try identity.clientContext()
        for count in Array(stride(from: 1, to: 1_400, by: 41)) + [1_500, 2_000, 5_000, 20_000, 90_000] {
            try await proxy.cut(afterBytesFromServer: count)
            let client = try await Endpoint.connect(to: proxy.port, context: context, on: loop) { probe in
                probe.onReady = { connection in
                    for _ in 0..<40 {
                        _ = try? Endpoint.post(connection, "/echo", body: [UInt8](repeating: 7, count: 3_000))
                    }
                }
            }
            try await client.wait { $0.closeReason != nil }
            try await client.run { _, probe in
                #expect(probe.closeReasons.count == 1)
                #expect(probe.endedCount < 40)
            }
        }
        loop.stopAndJoin()
        try await proxy.stop()
        try await server.stop()
    }

    @Test("A connection closed before it starts, or during the handshake, reports its end once")
    func earlyCloseIsReported() async throws {
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(to: server.port, context: try identity.clientContext(), on: loop)
        try await client.run { connection, probe in
            connection.close()
            #expect(probe.closeReasons.isEmpty)
            #expect(throws: HTTP2Error.self) { try Endpoint.post(connection, "/", body: []) }
        }
        try await client.wait { $0.closeReason != nil }
        #expect(try await client.run { _, probe in probe.closeReasons } == ["closed by this side"])
        try await server.stop()
        loop.stopAndJoin()
    }

    @Test("A loop that stops under its connections lets go of them")
    func stoppedLoopReleasesConnection() async throws {
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let loop = try EventLoop(name: "test-client")
        let isReleased = Watched(false)
        do {
            let client = try await Endpoint.connect(
                to: server.port, context: try identity.clientContext(), on: loop
            ) { probe in
                // The probe is the handler of the connection, and goes with it.
                let sentinel = ReleaseSentinel(isReleased)
                probe.onClosed = { _ in withExtendedLifetime(sentinel) {} }
            }
            try await client.wait { $0.readyCount == 1 }
            loop.stopAndJoin()
            #expect(!isReleased.value)
        }
        #expect(await isReleased.wait(deadlineSeconds: 60) { $0 }, "something holds it besides the test")
        try await server.stop()
    }
}

/// Says when the last reference to it is gone.
private final class ReleaseSentinel: Sendable {
    private let isReleased: Watched<Bool>

    init(_ isReleased: Watched<Bool>) { self.isReleased = isReleased }

    deinit { isReleased.update { $0 = true } }
}
