import Crypto
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

@testable import WebPushTransport

@Suite("The probe of browsers' push services")
struct WebPushProbeTests {
    private static func configuration(
        _ trustedHosts: [String], anchors: String? = nil
    ) throws -> WebPushServiceConfiguration {
        let tokens = VAPIDTokenSource(
            key: VAPIDSigningKey(try ES256PrivateKey.generate()), subject: try VAPIDSubject("mailto:push@example.com"))
        var configuration = WebPushServiceConfiguration(apps: [.init(name: "shop", tokens: tokens)])
        configuration.hosts.trustedHosts = trustedHosts
        configuration.extraTrustAnchorsFile = anchors
        return configuration
    }

    @Test("A service that is trusted, with its port or without, is connected to, and no push is sent")
    func trusted() async throws {
        let service = try await BrowserService()
        let port = service.loops.port
        for trusted in ["localhost", "localhost:\(port)"] {
            let configuration = try Self.configuration([trusted], anchors: service.trustAnchorsFile)
            let report = try await WebPushProbe.check(ServiceEndpoint(host: "localhost", port: port), configuration)
            #expect(report.http2Address == "127.0.0.1:\(port)")
        }
        #expect(service.deliveries.value.isEmpty)
        try await service.stop()
    }

    @Test("A name that leads to this machine is not connected to, unless its own port is trusted")
    func notTrusted() async throws {
        let service = try await BrowserService()
        let configuration = try Self.configuration(["localhost:1"], anchors: service.trustAnchorsFile)
        let error = await #expect(throws: ServiceError.self) {
            try await WebPushProbe.check(ServiceEndpoint(host: "localhost", port: service.loops.port), configuration)
        }
        #expect(error?.message.contains("no address of the name may be connected to") == true)
        try await service.stop()
    }

    @Test("A trusted port makes no other port trusted, and an address of IPv6 has no port at its end")
    func ports() throws {
        let configuration = try Self.configuration(["localhost:8443", "::1:8443", "push.example.com"])
        #expect(configuration.hosts.trusts(host: "localhost", port: 8_443))
        #expect(!configuration.hosts.trusts(host: "localhost", port: 443))
        #expect(!configuration.hosts.trusts(host: "::1", port: 8_443))
        #expect(configuration.hosts.trusts(host: "push.example.com", port: 9))
        #expect(configuration.admission(toHost: "localhost", port: 8_443) == nil)
        #expect(configuration.admission(toHost: "localhost", port: 443)?([127, 0, 0, 1]) == false)
    }

    @Test("The key of an app signs")
    func signs() throws {
        let app = try #require(try Self.configuration([]).apps.first)
        try WebPushProbe.sign(for: app)
    }
}
