import Crypto
import Glibc
import PushTestKit
import Testing

@Suite("TLS sessions")
struct TLSTests {
    private func pair(
        identity: ServerIdentity, serverName: String, clientProtocols: [String] = ["h2"],
        serverProtocols: [String] = ["h2"], isTrusted: Bool = true
    ) throws -> TLSPair {
        let server = try TLSContext.server(identity, applicationProtocols: serverProtocols)
        return try TLSPair.trusting(isTrusted ? [identity] : [], protocols: clientProtocols) { client in
            try TLSPair(client: client, server: server, serverName: serverName)
        }
    }

    private func rejection(_ pair: TLSPair) throws -> CryptoError {
        try #require(throws: CryptoError.self) { try pair.handshake() }
    }

    @Test(
        "A certificate is accepted for each name and address that it lists",
        arguments: ["localhost", "push.example.com", "a.wild.example.com", "127.0.0.1", "::1"])
    func listedNameIsAccepted(name: String) throws {
        let identity = try TLSPair.identity(
            names: ["localhost", "push.example.com", "*.wild.example.com", "127.0.0.1", "::1"])
        let pair = try pair(identity: identity, serverName: name)
        try pair.handshake()
        #expect(pair.client.applicationProtocol == "h2")
        #expect(pair.server.applicationProtocol == "h2")
    }

    @Test(
        "A certificate is rejected for every other name and address",
        arguments: ["example.com", "xpush.example.com", "b.a.wild.example.com", "wild.example.com", "127.0.0.2", "::2"])
    func otherNameIsRejected(name: String) throws {
        let identity = try TLSPair.identity(names: ["push.example.com", "*.wild.example.com", "127.0.0.1", "::1"])
        let error = try rejection(try pair(identity: identity, serverName: name))
        #expect(error.code == .certificateRejected)
        #expect(error.message.contains("another name"), "\(error.message)")
        #expect(error.message.contains(name), "\(error.message)")
    }

    @Test("An expired certificate, and one from the future, are rejected with advice about the clock")
    func certificateOutOfTimeIsRejected() throws {
        for (shift, words) in [(Int64(-86_400), "expired"), (86_400, "not valid yet")] {
            let identity = try TLSPair.identity(names: ["localhost"], shiftSeconds: shift)
            let error = try rejection(try pair(identity: identity, serverName: "localhost"))
            #expect(error.code == .certificateRejected)
            #expect(error.message.contains(words) && error.message.contains("clock"), "\(error.message)")
        }
    }

    @Test("A certificate that nobody vouches for is rejected, also beside another that is trusted")
    func untrustedCertificateIsRejected() throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        let other = try TLSPair.identity(names: ["localhost"])
        let server = try TLSContext.server(identity, applicationProtocols: ["h2"])
        let error = try TLSPair.trusting([other]) { client in
            try rejection(try TLSPair(client: client, server: server, serverName: "localhost"))
        }
        #expect(error.code == .certificateRejected)
        #expect(error.message.contains("trust anchor"), "\(error.message)")
    }

    @Test("Without a common application protocol the handshake ends in an error or without a protocol")
    func applicationProtocolIsNegotiated() throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        let silent = try pair(identity: identity, serverName: "localhost", serverProtocols: [])
        try silent.handshake()
        #expect(silent.client.applicationProtocol == nil)

        let other = try pair(identity: identity, serverName: "localhost", serverProtocols: ["http/1.1"])
        #expect(throws: CryptoError.self) { try other.handshake() }

        let choice = try pair(
            identity: identity, serverName: "localhost", clientProtocols: ["x", "http/1.1", "h2"],
            serverProtocols: ["h2", "http/1.1"])
        try choice.handshake()
        #expect(choice.client.applicationProtocol == "h2")
    }

    @Test(
        "A peer that does not speak TLS is named as such",
        arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail\r\n"])
    func plainPeerIsNamed(greeting: String) throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        let pair = try pair(identity: identity, serverName: "localhost")
        #expect(write(pair.sockets.second, greeting, greeting.utf8.count) == greeting.utf8.count)
        let error = try #require(throws: CryptoError.self) {
            while try pair.client.handshake() != .done {}
        }
        #expect(error.code == .protocolMissing)
        #expect(error.message.contains("does not speak TLS"), "\(error.message)")
    }

    @Test("A peer that closes during the handshake is named as such")
    func closedHandshakeIsNamed() throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        let pair = try pair(identity: identity, serverName: "localhost")
        #expect(try pair.client.handshake() == .wantsRead)
        pair.sockets.closeSecond()
        let error = try #require(throws: CryptoError.self) { _ = try pair.client.handshake() }
        #expect(error.code == .closed || error.code == .ioFailed)
    }

    @Test("Bytes of any amount pass through a socket that blocks, whole and in order")
    func bytesPassInOrder() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let identity = try TLSPair.identity(names: ["localhost"])
        let pair = try pair(identity: identity, serverName: "localhost")
        try pair.handshake()
        let sent = (0..<600_000).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        var received: [UInt8] = []
        var offset = 0
        var hasBlocked = false
        while received.count < sent.count {
            // A refused write is repeated with more bytes from another address, as a growing buffer would.
            while offset < sent.count {
                let copy = Array(sent[offset..<min(sent.count, offset + 100_000)])
                guard case .bytes(let count) = try copy.withUnsafeBytes({ try pair.client.write($0) }) else {
                    hasBlocked = true
                    break
                }
                offset += count
            }
            var buffer = [UInt8](repeating: 0, count: Int.random(in: 1...40_000, using: &generator))
            while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try pair.server.read(into: $0) }) {
                received.append(contentsOf: buffer.prefix(count))
            }
        }
        #expect(received == sent, "seed \(seed)")
        #expect(hasBlocked)
    }

    @Test("The end of the stream is reported, with a notice or without")
    func endIsReported() throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        for hasNotice in [true, false] {
            let pair = try pair(identity: identity, serverName: "localhost")
            try pair.handshake()
            if hasNotice { pair.server.closeNotify() }
            pair.sockets.closeSecond()
            var buffer = [UInt8](repeating: 0, count: 100)
            let transfer = try buffer.withUnsafeMutableBytes { try pair.client.read(into: $0) }
            #expect(transfer == .closed)
        }
    }

    @Test("Bytes that are no TLS record end a session with an error, never with a crash")
    func garbageEndsSession() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let identity = try TLSPair.identity(names: ["localhost"])
        let server = try TLSContext.server(identity, applicationProtocols: ["h2"])
        let client = try TLSPair.trusting([identity]) { $0 }
        for _ in 0..<50 {
            let pair = try TLSPair(client: client, server: server, serverName: "localhost")
            try pair.handshake()
            let garbage = (0..<300).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
            _ = write(pair.sockets.second, garbage, garbage.count)
            pair.sockets.closeSecond()
            var buffer = [UInt8](repeating: 0, count: 100)
            let transfer = try? buffer.withUnsafeMutableBytes { try pair.client.read(into: $0) }
            // A record header that announces more than came ends like a closed stream.
            #expect(transfer == nil || transfer == .closed, "seed \(seed)")
        }
    }

    @Test("A context says what is wrong with its files and its identity")
    func unusableContextIsRefused() throws {
        let identity = try TLSPair.identity(names: ["localhost"])
        let other = try TLSPair.identity(names: ["localhost"])
        let missing = try #require(throws: CryptoError.self) {
            _ = try TLSContext.client(extraTrustAnchorsFile: "/nonexistent/ca.pem", applicationProtocols: ["h2"])
        }
        #expect(missing.code == .certificateInvalid && missing.message.contains("/nonexistent/ca.pem"))
        let unusable = [
            (identity.certificateChainPEM, other.privateKeyPEM, CryptoError.Code.certificateInvalid),
            ("", identity.privateKeyPEM, .certificateInvalid),
            ("garbage", identity.privateKeyPEM, .certificateInvalid),
            (String(identity.certificateChainPEM.dropLast(40)), identity.privateKeyPEM, .certificateInvalid),
            (identity.certificateChainPEM, "", .keyMissing),
        ]
        for (chain, key, code) in unusable {
            let error = try #require(throws: CryptoError.self) {
                let identity = ServerIdentity(certificateChainPEM: chain, privateKeyPEM: key)
                _ = try TLSContext.server(identity, applicationProtocols: ["h2"])
            }
            #expect(error.code == code)
        }
        for names in [[], [""], ["a,DNS:b"], ["a\nb"], ["a b"]] {
            #expect(throws: CryptoError.self) { _ = try TLSPair.identity(names: names) }
        }
    }

    @Test("All that trust the same anchors share a context, until a file has changed")
    func sharedContext() throws {
        let folder = try TemporaryFolder()
        let pems = try (0..<2).map { _ in try TLSPair.identity(names: ["localhost"]).certificateChainPEM }
        let path = try folder.write("anchors.pem", pems[0])
        let first = try TLSContext.client(extraTrustAnchorsFile: path, applicationProtocols: ["h2"])
        #expect(try TLSContext.client(extraTrustAnchorsFile: path, applicationProtocols: ["h2"]) === first)
        #expect(try TLSContext.client(extraTrustAnchorsFile: path, applicationProtocols: ["http/1.1"]) !== first)
        #expect(try TLSContext.client(extraTrustAnchorsFile: nil, applicationProtocols: ["h2"]) !== first)
        try folder.write("anchors.pem", pems.joined())
        #expect(try TLSContext.client(extraTrustAnchorsFile: path, applicationProtocols: ["h2"]) !== first)
        withExtendedLifetime(first) {}
    }

    @Test("A server name that cannot be one is refused")
    func impossibleServerNameIsRefused() throws {
        let context = try TLSContext.client(extraTrustAnchorsFile: nil, applicationProtocols: ["h2"])
        let sockets = try SocketPair()
        for name in ["", "a\0b", String(repeating: "a", count: 300)] {
            #expect(throws: CryptoError.self) {
                _ = try TLSSession(client: context, socket: sockets.first, serverName: name)
            }
        }
    }
}
