import APNsTransport
import ConnectionPool
import Crypto
import Essentials
import Metrics
import Notifications
import PushTestKit
import ServiceClient

/// A client with one route to a scripted peer, and what a test needs around it.
final class ClientFixture: Sendable {
    let client: APNsClient
    let results = ResultCollector()
    let log = LogCollector()
    let metrics = MetricsRegistry()
    let tokenSource: ProviderTokenSource

    /// Starts a client.
    ///
    /// - Parameters:
    ///   - port: the peer's port.
    ///   - trustAnchorsFile: with which it trusts the peer; nil for the system's anchors alone.
    ///   - host: the name under which it connects.
    ///   - change: changes the limits, whose deadlines are long by default so that a slow machine meets none.
    ///   - clock: of the provider token.
    ///   - key: the signing key; nil makes one.
    ///   - proxy: the proxy to go through; nil for none.
    ///   - authorizer: authenticates in place of the provider token.
    /// - Throws: `ServiceError`, if the trust anchors cannot be read.
    init(
        port: UInt16, trustAnchorsFile: String?, host: String = "127.0.0.1",
        limits change: (inout PoolLimits) -> Void = { _ in },
        clock: @escaping ProviderTokenSource.Clock = ProviderTokenSource.systemClock,
        key: ES256PrivateKey? = nil, proxy: HTTPProxy? = nil, authorizer: (any Authorizer)? = nil
    ) throws {
        var limits = PoolLimits()
        limits.deadlineNanoseconds = 60_000_000_000
        // A pool that is to grow says so.
        limits.connectionsMaximum = 0
        limits.backOff = BackOff(baseNanoseconds: 1_000_000, capNanoseconds: 20_000_000)
        change(&limits)
        tokenSource = try ProviderTokenSource(
            key: key ?? ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: clock)
        let route = try APNsRoute(
            app: "chat", environment: .production, endpoint: "\(host):\(port)",
            extraTrustAnchorsFile: trustAnchorsFile, tokenSource: tokenSource, limits: limits,
            proxy: proxy)
        if let authorizer {
            var route = route.serviceRoute
            route.authorizer = authorizer
            client = try ServiceClient(routes: [route], loopName: "test", logger: log.logger, metrics: metrics)
        } else {
            var configuration = APNsClientConfiguration(routes: [route])
            configuration.closeTimeoutNanoseconds = 1_000_000_000
            client = try APNsClient(configuration: configuration, logger: log.logger, metrics: metrics)
        }
        client.start(handler: results)
    }

    /// Starts a client to a peer.
    convenience init(_ peer: ScriptedPeer, _ change: (inout PoolLimits) -> Void = { _ in }) throws {
        try self.init(port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, limits: change)
    }

    /// A content for tests that do not look at it.
    static let content = PushContent(
        payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), topic: "com.example.chat", pushType: .alert,
        priority: .immediate, expirationSeconds: 1_800_000_000, collapseID: "c")

    /// Requests with these identifiers; each goes to the token that is its identifier in 16 digits, twice.
    static func requests(_ identifiers: some Sequence<Int>) -> [PushRequest] {
        identifiers.compactMap { identifier in
            let digits = token(identifier)
            guard let token = DeviceToken(hexadecimal: digits) else { return nil }
            let apnsID = APNsIdentifier(high: 0x1234_5678_9abc_4def, low: UInt64(identifier))
            return PushRequest(
                identifier: UInt64(identifier), route: 0, token: token, apnsID: apnsID, content: content)
        }
    }

    /// The token of an identifier.
    static func token(_ identifier: Int) -> String {
        let digits = String(identifier, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    func send(_ identifiers: some Sequence<Int>) { client.send(Self.requests(identifiers)) }
}
