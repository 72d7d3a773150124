import ConnectionPool
import Essentials
import FCMSimulator
import FCMTransport
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

/// A client with one route to a simulator of FCM.
struct FCMClientFixture {
    static let project = "chat-4711"

    /// One account for all tests, because making a key takes long.
    private static let sharedKey = Result { try ServiceAccountKey(projectID: project) }

    let simulator: FCMSimulator
    let client: ServiceClient
    let results = ResultCollector()
    let log = LogCollector()
    let source: AccessTokenSource
    let folder: TemporaryFolder
    /// How far the clock of the access tokens is ahead, in seconds.
    let aheadSeconds: Watched<UInt64>

    static func account() throws -> ServiceAccountKey { try sharedKey.get() }

    /// Runs a simulator and a client, and answers with the simulator's final numbers.
    @discardableResult
    static func run(
        script: TargetScript = .empty, faults: SimulatorFaults? = nil,
        accounts: [FCMSimulatorConfiguration.ServiceAccount]? = nil, deadlineMilliseconds: UInt64 = 60_000,
        _ body: (FCMClientFixture) async throws -> Void
    ) async throws -> FCMSummary {
        var configuration = FCMSimulatorConfiguration()
        configuration.projectID = project
        configuration.accounts = try accounts ?? [account().account]
        configuration.recordsInMemoryMaximum = 10_000
        configuration.script = script
        if let faults { configuration.serving.faults = faults }
        let fixture = try await FCMClientFixture(configuration, deadlineMilliseconds)
        fixture.client.start(handler: fixture.results)
        try await body(fixture)
        await fixture.client.close()
        fixture.source.stop()
        return try await fixture.simulator.stop()
    }

    private init(_ configuration: FCMSimulatorConfiguration, _ deadlineMilliseconds: UInt64) async throws {
        simulator = try await FCMSimulator.start(configuration)
        folder = try TemporaryFolder()
        let anchor = try folder.write("ca.pem", simulator.trustAnchorPEM)
        let tokenURL = "https://localhost:\(simulator.port)/token"
        let path = try folder.write("account.json", try Self.account().credentialsJSON(tokenURI: tokenURL))
        let ahead = Watched<UInt64>(0)
        aheadSeconds = ahead
        source = try AccessTokenSource(
            ServiceAccountCredentials(.file(path), endpoint: TokenEndpoint(caFile: anchor)),
            clock: { AccessTokenSource.systemClock().advanced(byNanoseconds: ahead.value * 1_000_000_000) })
        var limits = FCMRoute.defaultLimits
        limits.deadlineNanoseconds = deadlineMilliseconds * 1_000_000
        limits.connectionsMaximum = 0
        limits.backOff = BackOff(baseNanoseconds: 1_000_000, capNanoseconds: 20_000_000)
        let route = try FCMRoute.make(
            app: "chat", projectID: Self.project, endpoint: "localhost:\(simulator.port)",
            extraTrustAnchorsFile: anchor, tokenSource: source, limits: limits)
        client = try ServiceClient(
            routes: [route], loopName: "fcm", logger: log.logger, metrics: MetricsRegistry())
    }

    /// Requests with these identifiers, each to a device of its own.
    func send(_ identifiers: some Sequence<Int>, suffix: String = "") throws {
        let content = try Self.content()
        client.send(
            try identifiers.map { identifier in
                PushRequest(
                    identifier: UInt64(identifier), route: 0,
                    token: try #require(DeviceToken(text: Array("device:\(identifier)\(suffix)".utf8))),
                    apnsID: APNsIdentifier(high: 1, low: UInt64(identifier)), content: content)
            })
    }

    static func content() throws -> PushContent {
        var builder = FCMMessageBuilder()
        var notification = Notifications.Notification()
        notification.title = "Hello"
        return try builder.content(of: notification, options: PushOptions())
    }

    /// The disposition of each push, by identifier, once so many have ended.
    func dispositions(count: Int) async -> [UInt64: Disposition] {
        Dictionary(
            await results.wait(count: count).map { ($0.identifier, Disposition($0.outcome, of: .fcm)) },
            uniquingKeysWith: { first, _ in first })
    }
}
