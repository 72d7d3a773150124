import ConnectionPool
import Crypto
import Essentials
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import StructuredLogging
import Testing

@testable import WebPushTransport

@Suite("The client of browsers' push services")
struct WebPushClientTests {
    static let content = PushContent(
        payload: Array(#"{"notification":{"title":"T"}}"#.utf8), topic: "abcd", pushType: .alert,
        priority: .immediate, expirationSeconds: nil, collapseID: "x")

    static func client(
        _ service: BrowserService, threads: Int = 1, _ change: (inout WebPushServiceConfiguration) -> Void = { _ in }
    ) throws -> (WebPushServiceClient, OutcomeCollector) {
        let tokens = VAPIDTokenSource(
            key: VAPIDSigningKey(try ES256PrivateKey.generate()), subject: try VAPIDSubject("mailto:push@example.com"))
        var configuration = WebPushServiceConfiguration(apps: [.init(name: "shop", tokens: tokens)])
        configuration.hosts.trustedHosts = ["localhost", "127.0.0.1"]
        configuration.extraTrustAnchorsFile = service.trustAnchorsFile
        configuration.encryptionThreads = threads
        configuration.knownLimits.deadlineNanoseconds = 60_000_000_000
        change(&configuration)
        let client = try WebPushServiceClient(
            configuration: configuration, logger: Logger(minimum: .error) { _, _, _ in }, metrics: MetricsRegistry())
        let collector = OutcomeCollector()
        client.start(handler: collector)
        return (client, collector)
    }

    static func request(_ identifier: Int, _ token: DeviceToken?, route: Int = 0) throws -> PushRequest {
        PushRequest(
            identifier: UInt64(identifier), route: route, token: try #require(token),
            apnsID: APNsIdentifier(high: 1, low: 2), content: content)
    }

    @Test("The browser reads what was sent, and the service the fields of RFC 8030 and RFC 8292")
    func delivers() async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service)
        client.send([try Self.request(7, try service.token("/push/a?b"))])
        #expect(await collector.wait(count: 1) == [7: [.answered(PushAnswer(status: 200))]])
        let delivery = try #require(service.deliveries.value.first)
        #expect(delivery.text == #"{"notification":{"title":"T"}}"#)
        let authorization = delivery.fields.removingValue("authorization")
        #expect(authorization.value?.hasPrefix("vapid t=") == true && authorization.value?.contains(", k=") == true)
        #expect(
            authorization.rest == [
                ":method": "POST", ":path": "/push/a?b", ":authority": "localhost:\(service.loops.port)",
                "ttl": "2419200", "urgency": "high", "topic": "abcd", "content-encoding": "aes128gcm",
            ])
        await client.close()
        try await service.stop()
    }

    @Test("Many pushes over two threads end once each, and each body is its own", arguments: [1, 2])
    func many(threads: Int) async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service, threads: threads)
        let token = try service.token("/push")
        client.send(try (0..<2_000).map { try Self.request($0, token) })
        let outcomes = await collector.wait(count: 2_000)
        #expect(outcomes.count == 2_000 && outcomes.values.allSatisfy { $0 == [.answered(PushAnswer(status: 200))] })
        #expect(service.deliveries.value.allSatisfy { $0.text == #"{"notification":{"title":"T"}}"# })
        await client.close()
        try await service.stop()
    }

    @Test("A subscription that cannot be used is answered, and disturbs no other")
    func unusableSubscriptions() async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service)
        let keys = WebPushKeys(publicKey: [4] + [UInt8](repeating: 1, count: 64), authenticationSecret: Array(0..<16))
        let offCurve = DeviceToken(
            text: Array("https://localhost:\(service.loops.port)/x".utf8),
            details: PushAddressDetails(webPushKeys: keys))
        let good = try service.token("/push")
        client.send([
            try Self.request(1, DeviceToken(text: Array("https://localhost/x".utf8))),
            try Self.request(2, offCurve),
            try Self.request(3, try service.token("/x", host: "elsewhere.example")),
            try Self.request(4, DeviceToken(text: Array("http://localhost/x".utf8), details: good?.details)),
            try Self.request(5, good, route: 9), try Self.request(6, good),
        ])
        let outcomes = await collector.wait(count: 6)
        let words = (1...4).map { outcomes[UInt64($0)]?.first }
        #expect(
            words == [SubscriptionProblem.keysMissing, .keysInvalid, .endpointRefused, .endpointInvalid].map(\.outcome))
        #expect(outcomes[5] == [.notProcessed("there is no such route")])
        #expect(outcomes[6] == [.answered(PushAnswer(status: 200))])
        await client.close()
        try await service.stop()
    }

    @Test("A subscription whose end has passed is gone without a push, and one whose end is to come is served")
    func endedSubscription() async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service)
        let token = try #require(try service.token("/push"))
        func ending(atMilliseconds end: Int64) -> DeviceToken? {
            let details = PushAddressDetails(webPushKeys: token.details?.webPushKeys, expiresAtMilliseconds: end)
            return DeviceToken(text: token.bytes, details: details)
        }
        client.send([
            try Self.request(1, ending(atMilliseconds: 1_000)), try Self.request(2, ending(atMilliseconds: .max)),
        ])
        let outcomes = await collector.wait(count: 2)
        #expect(outcomes[1] == [SubscriptionProblem.ended.outcome])
        #expect(
            Disposition(SubscriptionProblem.ended.outcome, of: .webPush) == .tokenDead(sinceMilliseconds: nil))
        #expect(outcomes[2] == [.answered(PushAnswer(status: 200))])
        await client.close()
        try await service.stop()
    }

    @Test(
        "A subscription that was registered just now is not taken for gone, and an older one is", arguments: [404, 410])
    func goneSoon(status: Int) async throws {
        let service = try await BrowserService { _ in (status, "") }
        let (client, collector) = try Self.client(service)
        let token = try #require(try service.token("/push"))
        let now = VAPIDAuthorizer.systemClock().wall.milliseconds
        // The test itself may take a minute.
        let ages: [Int64?] = [-50_000, -40_000, 61_000, now - 1, -600_000, nil]
        for (number, age) in ages.enumerated() {
            let details = PushAddressDetails(
                webPushKeys: token.details?.webPushKeys, registeredAtMilliseconds: age.map { now - $0 })
            client.send([try Self.request(number, DeviceToken(text: token.bytes, details: details))])
        }
        let outcomes = await collector.wait(count: ages.count)
        for number in ages.indices {
            let reason = number < 2 ? WebPushReason.goneSoon : ""
            #expect(outcomes[UInt64(number)] == [.answered(PushAnswer(status: status, reason: reason))])
        }
        await client.close()
        try await service.stop()
    }

    @Test("A name that leads to this machine is not connected to, unless it is trusted")
    func privateAddress() async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service) {
            $0.hosts.trustedHosts = []
            $0.hosts.knownHosts.append("localhost")
        }
        let token = try #require(try service.token("/push"))
        let usual = DeviceToken(text: Array("https://localhost/push".utf8), details: token.details)
        client.send([try Self.request(1, usual)])
        guard case .notProcessed(let reason)? = await collector.wait(count: 1)[1]?.first else {
            Issue.record("the push was not refused")
            return
        }
        #expect(reason.contains("no address of the name may be connected to"))
        await client.close()
        try await service.stop()
    }

    @Test("Closing ends every push once, and later ones at once")
    func closes() async throws {
        let service = try await BrowserService()
        let (client, collector) = try Self.client(service)
        let token = try service.token("/push")
        client.send(try (0..<3_000).map { try Self.request($0, token) })
        await client.close()
        client.send([try Self.request(3_000, token)])
        let outcomes = await collector.wait(count: 3_001)
        #expect(outcomes.count == 3_001 && outcomes.values.allSatisfy { $0.count == 1 })
        try await service.stop()
    }
}

extension [String: String] {
    /// A value, and the dictionary without it.
    fileprivate func removingValue(_ key: String) -> (value: String?, rest: [String: String]) {
        (self[key], filter { $0.key != key })
    }
}
