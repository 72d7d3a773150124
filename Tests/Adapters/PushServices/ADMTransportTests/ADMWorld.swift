import ADMSimulator
import ADMTransport
import Essentials
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import StructuredLogging
import Testing

/// A simulator of ADM, and a client of it with one app.
final class ADMWorld: Sendable {
    static let prefix = "amzn1.adm-registration.v3."

    let simulator: ADMSimulator
    let client: HTTP1Client
    let results = Watched<[AttemptResult]>([])
    let reachability = Watched<[Bool]>([])
    let metrics = MetricsRegistry()
    /// How much later than the real one the clock is by which access tokens age, in nanoseconds.
    let clockAheadNanoseconds = Watched<UInt64>(0)
    private let source: AccessTokenSource
    private let folder: TemporaryFolder

    private final class Handler: PushTransportHandler {
        let results: Watched<[AttemptResult]>
        let reachability: Watched<[Bool]>

        init(_ results: Watched<[AttemptResult]>, _ reachability: Watched<[Bool]>) {
            self.results = results
            self.reachability = reachability
        }

        func pushesEnded(_ results: [AttemptResult]) { self.results.update { $0 += results } }

        func routesChanged(_ changes: [RouteChange]) { reachability.update { $0 += changes.map(\.isReachable) } }
    }

    /// Starts both; the client's secret is `secret` at the simulator, and it connects to `port` in place of the
    /// simulator's if there is one.
    init(
        script: String = "", secret: String = "secret", deadlineSeconds: Double = 60, port: UInt16? = nil,
        on simulatorPort: UInt16 = 0, _ change: (inout ADMSimulatorConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ADMSimulatorConfiguration()
        configuration.port = simulatorPort
        configuration.clients = ["client": "secret"]
        configuration.script = try RegistrationScript(parsing: Array(script.utf8))
        configuration.recordsInMemoryMaximum = 10_000
        change(&configuration)
        simulator = try ADMSimulator.start(configuration)
        folder = try TemporaryFolder()
        let anchors = try folder.write("ca.pem", simulator.trustAnchorPEM)
        source = try AccessTokenSource(
            ADMCredentials(
                clientID: "client", clientSecret: secret,
                endpoint: TokenEndpoint(
                    url: "https://localhost:\(simulator.port)/auth/O2/token", caFile: anchors)),
            clock: { [clockAheadNanoseconds] in
                AccessTokenSource.systemClock().advanced(byNanoseconds: clockAheadNanoseconds.value)
            })
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum = 8
        limits.deadlineNanoseconds = UInt64(deadlineSeconds * 1_000_000_000)
        client = try HTTP1Client(
            routes: [
                try ADMRoute.make(
                    app: "chat", endpoint: "localhost:\(port ?? simulator.port)", extraTrustAnchorsFile: anchors,
                    tokenSource: source, limits: limits, logger: .silent, metrics: metrics)
            ], loopName: "adm", logger: .silent, metrics: metrics, closeTimeoutNanoseconds: 0)
        client.start(handler: Handler(results, reachability))
    }

    /// Sends pushes with these identifiers, each to the registration ID that ends with its identifier.
    func send(_ identifiers: some Sequence<Int>) throws {
        var builder = ADMMessageBuilder()
        client.send(
            try identifiers.map { identifier in
                var notification = Notifications.Notification()
                notification.body = "push \(identifier)"
                return PushRequest(
                    identifier: UInt64(identifier), route: 0,
                    token: try #require(DeviceToken(text: Array("\(Self.prefix)\(identifier)".utf8))),
                    apnsID: APNsIdentifier(high: 0, low: UInt64(identifier)),
                    content: try builder.content(of: notification, options: PushOptions()))
            })
    }

    /// Lets the access token grow older than a minute, before which it is not replaced.
    func ageToken() { clockAheadNanoseconds.update { $0 += 100_000_000_000 } }

    /// The outcomes by identifier, when there are so many results; no push has two.
    func outcomes(_ count: Int) async -> [UInt64: AttemptOutcome] {
        _ = await results.wait { $0.count >= count }
        let results = results.value
        #expect(Set(results.map(\.identifier)).count == results.count)
        return Dictionary(results.map { ($0.identifier, $0.outcome) }, uniquingKeysWith: { first, _ in first })
    }

    /// Ends both, and answers with the simulator's numbers.
    @discardableResult
    func end() async -> ADMSummary {
        await client.close()
        source.stop()
        return simulator.stop()
    }
}

extension AttemptOutcome {
    static let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    var isAmbiguous: Bool { if case .ambiguous = self { true } else { false } }
}
