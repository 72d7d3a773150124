import APNsTransport
import Crypto
import PushTestKit
import ServiceClient
import Testing

@Suite("Probe")
struct ProbeTests {
    private func check(port: UInt16, trustAnchorsFile: String?, host: String = "127.0.0.1") async -> String {
        do throws(any Error) {
            let source = try ProviderTokenSource(
                key: ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            let route = try APNsRoute(
                app: "chat", environment: .sandbox, endpoint: "\(host):\(port)",
                extraTrustAnchorsFile: trustAnchorsFile, tokenSource: source)
            let report = try await ServiceProbe.check(route.serviceRoute)
            return "\(report.address) allows \(report.streamsMaximum)"
        } catch {
            return "\(error)"
        }
    }

    @Test("An endpoint that can be used is reported, by its name or its address, and no push is sent")
    func reportsAnEndpoint() async throws {
        let peer = try await ScriptedPeer(PeerScript(streamsMaximum: 7))
        let expected = "127.0.0.1:\(peer.port) allows 7"
        #expect(await check(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile) == expected)
        #expect(await check(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, host: "localhost") == expected)
        #expect(peer.facts.value.requestCount == 0)
        try await peer.stop()
    }

    @Test("An endpoint that cannot be used is reported with the reason and with what to do")
    func reportsAFailure() async throws {
        let peer = try await ScriptedPeer(names: ["push.example.org"])
        let text = await check(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile)
        #expect(text.contains("127.0.0.1:\(peer.port)") && text.contains("check endpoint"))
        try await peer.stop()
        #expect(await check(port: 1, trustAnchorsFile: nil).contains("refused"))
        #expect(await check(port: 1, trustAnchorsFile: nil, host: "no-such-host.invalid").contains("no-such-host"))
        #expect(await check(port: 1, trustAnchorsFile: "/nonexistent.pem").contains("/nonexistent.pem"))
    }

    @Test(
        "An endpoint is a host, a host and a port, or an IPv6 address in brackets",
        arguments: [
            ("", "api.sandbox.push.apple.com", 443), ("h.example", "h.example", 443), ("h:2197", "h", 2_197),
            ("[::1]", "::1", 443), ("[::1]:8443", "::1", 8_443),
        ] as [(String, String, UInt16)])
    func readsEndpoints(endpoint: String, host: String, port: UInt16) throws {
        let source = try ProviderTokenSource(key: ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let route = try APNsRoute(app: "a", environment: .sandbox, endpoint: endpoint, tokenSource: source)
        #expect(route.serviceRoute.host == host)
        #expect(route.serviceRoute.port == port)
    }

    @Test(
        "An impossible endpoint is refused", arguments: ["h:", "h:0", "h:70000", ":443", "h x", "https://h", "[::1]x"])
    func refusesEndpoints(endpoint: String) throws {
        let source = try ProviderTokenSource(key: ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect(throws: ServiceError.self) {
            try APNsRoute(app: "a", environment: .sandbox, endpoint: endpoint, tokenSource: source)
        }
    }
}
