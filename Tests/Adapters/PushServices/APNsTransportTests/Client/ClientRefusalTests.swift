import APNsTransport
import ConnectionPool
import EventLoop
import Glibc
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: servers that cannot be used")
struct ClientRefusalTests {
    /// Sends one push to a server that cannot be used: it is not processed, and the log says why.
    private func expectRefusal(
        port: UInt16, trustAnchorsFile: String?, host: String = "127.0.0.1", words: String...
    ) async throws {
        let fixture = try ClientFixture(port: port, trustAnchorsFile: trustAnchorsFile, host: host) {
            $0.deadlineNanoseconds = 2_000_000_000
        }
        fixture.send([1])
        let result = await fixture.results.wait(count: 1).first
        guard case .notProcessed(let reason)? = result?.outcome else {
            Issue.record("the push ended as \(String(describing: result?.outcome))")
            return await fixture.client.close()
        }
        let line = fixture.log.lines.value.first { $0.contains("push.connection.failed") } ?? ""
        for word in words {
            #expect(line.contains(word))
            #expect(reason.contains(word))
        }
        #expect(line.contains("hint"))
        await fixture.client.close()
        let rendered = fixture.metrics.render()
        #expect(!rendered.contains(#"apus_push_connects_total{service="apns",outcome="failed"} 0"#))
    }

    @Test("A certificate from an unknown authority")
    func untrusted() async throws {
        let peer = try await ScriptedPeer()
        try await expectRefusal(port: peer.port, trustAnchorsFile: nil, words: "certificate")
        try await peer.stop()
    }

    @Test("A certificate that is made out to another name")
    func wrongName() async throws {
        let peer = try await ScriptedPeer(names: ["push.example.org"])
        try await expectRefusal(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, words: "127.0.0.1")
        try await peer.stop()
    }

    @Test("A certificate that has expired")
    func expired() async throws {
        let peer = try await ScriptedPeer(validitySeconds: -7_200 ... -3_600)
        try await expectRefusal(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, words: "expired")
        try await peer.stop()
    }

    @Test("A server that offers no HTTP/2")
    func noHTTP2() async throws {
        let peer = try await ScriptedPeer(applicationProtocols: [])
        try await expectRefusal(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, words: "HTTP/2")
        try await peer.stop()
    }

    @Test("A server that sends garbage in place of TLS")
    func garbage() async throws {
        let loop = try EventLoop(name: "garbage")
        let port = try await loop.run {
            try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { socket in
                _ = write(socket, "SSH-2.0-OpenSSH_9.2\r\n", 21)
                close(socket)
            }.port
        }
        try await expectRefusal(port: port, trustAnchorsFile: nil, words: "127.0.0.1:\(port)")
        loop.stopAndJoin()
    }

    @Test("A port on which no process listens")
    func nobodyThere() async throws {
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(socket)
        try await expectRefusal(port: port, trustAnchorsFile: nil, words: "cannot connect")
    }

    @Test("A trust anchor that cannot be read is refused before anything is sent")
    func missingTrustAnchor() {
        #expect(throws: ServiceError.self) { try ClientFixture(port: 1, trustAnchorsFile: "/nonexistent.pem") }
    }
}
