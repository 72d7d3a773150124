import APNsSimulator
import APNsTransport
import ConnectionPool
import Crypto
import EventLoop
import Glibc
import Metrics
import Notifications
import PushTestKit
import Testing

@testable import ServiceClient

@Suite("HTTP proxy: the way through it")
struct ProxyTunnelTests {
    private let accepted = AttemptOutcome.answered(PushAnswer(status: 200))
    private let credentials = "Basic bWU6czNjcjN0"

    private func fixture(
        _ peer: ScriptedPeer, proxyPort: UInt16, credentials: String = "",
        limits: @escaping (inout PoolLimits) -> Void = { _ in }
    ) throws -> ClientFixture {
        let proxy = try HTTPProxy(url: "http://\(credentials)127.0.0.1:\(proxyPort)")
        return try ClientFixture(
            port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, limits: limits, proxy: proxy)
    }

    @Test("Pushes go through a proxy with credentials, thousands of them over several connections")
    func goesThrough() async throws {
        let peer = try await ScriptedPeer()
        let proxy = try await ConnectProxy.start(.tunnel(authorization: credentials))
        let fixture = try fixture(peer, proxyPort: proxy.port, credentials: "me:s3cr3t@") { $0.connections = 3 }
        fixture.send(0..<3_000)
        let results = await fixture.results.wait(count: 3_000)
        #expect(results.count { $0.outcome == accepted } == 3_000)
        let heads = proxy.requests.value
        #expect(heads.count == 3)
        #expect(heads.allSatisfy { $0.hasPrefix("CONNECT 127.0.0.1:\(peer.port) HTTP/1.1\r\nHost: 127.0.0.1:") })
        #expect(!fixture.log.lines.value.contains { $0.contains("s3cr3t") || $0.contains(credentials) })
        await fixture.client.close()
        try await proxy.stop()
        try await peer.stop()
    }

    @Test("The name of the endpoint is left to the proxy to resolve, and its certificate is still verified")
    func leavesTheNameToTheProxy() async throws {
        let peer = try await ScriptedPeer(names: ["push.invalid"])
        let proxy = try await ConnectProxy.start(.tunnelTo(port: peer.port))
        let fixture = try ClientFixture(
            port: 2_197, trustAnchorsFile: peer.trustAnchorsFile, host: "push.invalid",
            proxy: HTTPProxy(host: "127.0.0.1", port: proxy.port))
        fixture.send([1])
        #expect(await fixture.results.wait(count: 1).first?.outcome == accepted)
        #expect(proxy.requests.value.first?.hasPrefix("CONNECT push.invalid:2197 HTTP/1.1\r\n") == true)
        await fixture.client.close()
        try await proxy.stop()
        try await peer.stop()
    }

    /// Sends one push through a proxy that makes no tunnel: it is not processed, and the log says why.
    private func expectFailure(
        _ behaviour: ConnectProxy.Behaviour, credentials: String = "", words: String...
    ) async throws {
        let peer = try await ScriptedPeer()
        let proxy = try await ConnectProxy.start(behaviour)
        let fixture = try fixture(peer, proxyPort: proxy.port, credentials: credentials) {
            $0.deadlineNanoseconds = 2_000_000_000
            $0.connectTimeoutNanoseconds = 500_000_000
        }
        fixture.send([1])
        guard case .notProcessed(let reason)? = await fixture.results.wait(count: 1).first?.outcome else {
            Issue.record("the push was processed")
            return
        }
        let line = fixture.log.lines.value.first { $0.contains("push.connection.failed") } ?? ""
        for word in words { #expect(line.contains(word), "\(line)") }
        #expect(line.contains("hint="))
        #expect(reason.contains("proxy 127.0.0.1:\(proxy.port)"), "\(reason)")
        #expect(!fixture.log.lines.value.contains { $0.contains("s3cr3t") || $0.contains("Basic") })
        await fixture.client.close()
        #expect(peer.facts.value.connectionCount == 0)
        try await proxy.stop()
        try await peer.stop()
    }

    @Test("A proxy that asks for credentials, or refuses those it gets, is told apart")
    func reports407() async throws {
        try await expectFailure(
            .tunnel(authorization: "Basic x"), words: "asks for credentials", "407", "http://USER:PASSWORD@HOST:PORT")
        try await expectFailure(
            .tunnel(authorization: "Basic x"), credentials: "me:s3cr3t@", words: "refuses the credentials", "407",
            "check the user and the password")
    }

    @Test("A proxy that does not allow the port says so")
    func reportsARefusal() async throws {
        try await expectFailure(
            .answer("HTTP/1.1 403 Forbidden\r\n\r\n"), words: "it answered 403 Forbidden to CONNECT", "allow CONNECT")
    }

    @Test("What answers and is no proxy is reported as such")
    func reportsGarbage() async throws {
        try await expectFailure(.answer("220 smtp.example ESMTP\r\n"), words: "is no HTTP proxy", "check the host")
        try await expectFailure(.close, words: "closed the connection without an answer")
    }

    @Test("A proxy that never answers is given up, and does not hold pushes for ever")
    func reportsAHang() async throws {
        try await expectFailure(.hang, words: "not ready in time")
    }

    @Test("A tunnel that takes too long fails by itself")
    func timesOut() async throws {
        let proxy = try await ConnectProxy.start(.hang)
        let loop = try EventLoop(name: "tunnel")
        let outcome = Watched<String>("")
        try await loop.run {
            let socket = try TCPSocket.connect(host: "127.0.0.1", port: proxy.port)
            ProxyTunnel(
                proxy: HTTPProxy(host: "127.0.0.1", port: proxy.port), socket: socket, target: "h:443", loop: loop,
                timeoutSeconds: 0.05
            ) { result in
                if case .failure(let failure) = result { outcome.update { $0 = failure.reason } }
            }.start()
        }
        #expect(await outcome.wait { $0.contains("did not answer CONNECT within 0.05 seconds") })
        loop.stopAndJoin()
        try await proxy.stop()
    }

    @Test("A proxy that is not there is reported, and so is a name that does not exist")
    func reportsAbsence() async throws {
        let peer = try await ScriptedPeer()
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(socket)
        #expect(await probe(peer, proxy: "127.0.0.1:\(port)").contains("proxy 127.0.0.1:\(port): cannot connect"))
        #expect(await probe(peer, proxy: "no-such-proxy.invalid").contains("check the name in proxy"))
        try await peer.stop()
    }

    @Test("The probe goes through the proxy, too")
    func probes() async throws {
        let peer = try await ScriptedPeer(PeerScript(streamsMaximum: 7))
        let proxy = try await ConnectProxy.start(.tunnel(authorization: credentials))
        let address = "127.0.0.1:\(proxy.port)"
        #expect(await probe(peer, proxy: "me:s3cr3t@\(address)") == "proxy \(address) allows 7")
        let refused = await probe(peer, proxy: "me:wr0ng@\(address)")
        #expect(refused.contains("refuses the credentials") && !refused.contains("wr0ng"))
        try await proxy.stop()
        try await peer.stop()
    }

    private func probe(_ peer: ScriptedPeer, proxy: String) async -> String {
        do throws(any Error) {
            let source = try ProviderTokenSource(
                key: ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            let route = try APNsRoute(
                app: "chat", environment: .sandbox, endpoint: "127.0.0.1:\(peer.port)",
                extraTrustAnchorsFile: peer.trustAnchorsFile, tokenSource: source,
                proxy: HTTPProxy(url: "http://\(proxy)"))
            let report = try await ServiceProbe.check(route.serviceRoute)
            return "\(report.address) allows \(report.streamsMaximum)"
        } catch {
            return "\(error)"
        }
    }
}
