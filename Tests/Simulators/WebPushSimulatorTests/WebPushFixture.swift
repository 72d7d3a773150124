import Crypto
import EncryptedContent
import Essentials
import EventLoop
import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing
import WebPushSimulator

/// A simulator of Web Push, a client of each of its origins, and a sender with a VAPID key.
struct WebPushFixture {
    static let subject = "mailto:push@example.com"

    let simulator: WebPushSimulator
    let clients: [String: SimulatorClient]
    let clock: MovableClock
    let key: ES256PrivateKey

    /// The configuration of the tests, with changes.
    static func configured(
        _ change: (inout WebPushSimulatorConfiguration) throws -> Void = { _ in }
    ) throws -> WebPushSimulatorConfiguration {
        var configuration = WebPushSimulatorConfiguration()
        configuration.recordsInMemoryMaximum = 10_000
        configuration.subscriptionsPerOrigin = 20
        configuration.seed = 7
        try change(&configuration)
        return configuration
    }

    /// Runs a simulator and clients of its origins with HTTP/2, and answers with the final numbers.
    @discardableResult
    static func run(
        _ configuration: WebPushSimulatorConfiguration? = nil, _ body: (WebPushFixture) async throws -> Void
    ) async throws -> WebPushSummary {
        let clock = MovableClock()
        var configuration = try configuration ?? configured()
        configuration.wallClockMilliseconds = { clock.nowMilliseconds }
        let simulator = try await WebPushSimulator.start(configuration)
        var clients: [String: SimulatorClient] = [:]
        for origin in configuration.origins where !origin.speaksHTTP1 {
            clients[origin.name] = try await connect(to: origin.name, of: simulator)
        }
        try await body(
            WebPushFixture(simulator: simulator, clients: clients, clock: clock, key: try ES256PrivateKey.generate()))
        for client in clients.values { try await client.close() }
        return try await simulator.stop()
    }

    /// One more client of an origin.
    static func connect(to origin: String, of simulator: WebPushSimulator) async throws -> SimulatorClient {
        let port = try #require(UInt16(try simulator.url(ofOrigin: origin).split(separator: ":").last ?? ""))
        return try await SimulatorClient.connect(port: port, trustAnchorPEM: simulator.trustAnchorPEM)
    }

    /// A client of an origin.
    func client(_ origin: String) throws -> SimulatorClient { try #require(clients[origin]) }

    // MARK: VAPID

    /// The claims of a good token in JSON, with changes; nil leaves one out.
    func claims(_ origin: String, _ changes: [String: String?] = [:]) throws -> String {
        let members: [String: String?] = [
            "aud": "\"\(try simulator.url(ofOrigin: origin))\"", "exp": "\(clock.nowMilliseconds / 1_000 + 43_200)",
            "sub": "\"\(Self.subject)\"",
        ]
        let all = members.merging(changes) { _, changed in changed }
        return "{" + all.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
    }

    /// A signed token.
    func token(
        header: String = #"{"typ":"JWT","alg":"ES256"}"#, claims: String, key: ES256PrivateKey? = nil
    ) throws -> String {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(try (key ?? self.key).sign(Array(signed.utf8)))
    }

    /// The header of a good sender.
    func authorization(_ origin: String, key: ES256PrivateKey? = nil) throws -> String {
        let key = key ?? self.key
        let token = try token(claims: try claims(origin), key: key)
        return "vapid t=\(token), k=\(Base64URL.encode(key.publicPoint))"
    }

    // MARK: Pushes

    /// The keys of a subscription as its sender knows them.
    static func recipient(_ subscription: SimulatedSubscription) throws -> RecipientKeys {
        try RecipientKeys(
            publicPoint: try #require(Base64URL.decode(subscription.p256dh)),
            authenticationSecret: try #require(Base64URL.decode(subscription.auth)))
    }

    /// A good push to a subscription of an origin.
    func push(
        _ origin: String, _ index: Int = 0, _ text: String = #"{"id":"1"}"#, ttl: String = "60",
        topic: String? = nil, key: ES256PrivateKey? = nil
    ) throws -> WireRequest {
        let subscription = try simulator.subscription(ofOrigin: origin, index)
        let body = try MessageEncryptor().encrypt(Array(text.utf8), for: try Self.recipient(subscription))
        return try request(
            origin, subscription, body: body, ttl: ttl, topic: topic,
            authorization: try authorization(origin, key: key))
    }

    /// A request to a subscription with any body.
    func request(
        _ origin: String, _ subscription: SimulatedSubscription, body: [UInt8], ttl: String = "60",
        topic: String? = nil, authorization: String?
    ) throws -> WireRequest {
        let url = try simulator.url(ofOrigin: origin)
        var headers = [
            (":method", "POST"), (":scheme", "https"), (":authority", String(url.dropFirst("https://".count))),
            (":path", String(subscription.endpoint.dropFirst(url.count))), ("ttl", ttl), ("urgency", "normal"),
            ("content-encoding", "aes128gcm"), ("content-type", "application/octet-stream"),
        ]
        if let topic { headers.append(("topic", topic)) }
        if let authorization { headers.append(("authorization", authorization)) }
        return WireRequest(headers: headers, body: body)
    }

    /// Sends a good push.
    @discardableResult
    func send(
        _ origin: String, _ index: Int = 0, _ text: String = #"{"id":"1"}"#, ttl: String = "60", topic: String? = nil
    ) async throws -> ClientResponse {
        try await client(origin).send(try push(origin, index, text, ttl: ttl, topic: topic))
    }
}

extension SubscriptionScript {
    /// A script that is written as lines.
    static func lines(_ lines: String) throws -> SubscriptionScript {
        try SubscriptionScript(parsing: Array(lines.utf8))
    }
}

extension WebPushFaults {
    /// Faults that are written as lines.
    static func lines(_ lines: String) throws -> WebPushFaults { try WebPushFaults(parsing: Array(lines.utf8)) }
}
