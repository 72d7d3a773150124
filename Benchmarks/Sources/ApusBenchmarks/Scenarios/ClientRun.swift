import APNsTransport
import ConnectionPool
import Metrics
import Notifications
import ServiceClient
import StructuredLogging

/// How the client is run against a server.
struct ClientRun {
    /// The token of every push: 32 bytes, all the same.
    static let token = String(repeating: "ab", count: 32)

    let bench: Workbench
    let port: UInt16
    let anchor: String
    let payload: [UInt8]
    let source: ProviderTokenSource

    /// Starts a client and its load.
    ///
    /// - Parameters:
    ///   - connections: how many connections the pool begins with.
    ///   - connectionsMaximum: up to how many it may grow; nil if it may not.
    ///   - streams: the most streams on a connection.
    ///   - window: how many pushes are out at any time.
    /// - Returns: both, and where the client counts.
    /// - Throws: the error of the client if it cannot be made.
    func start(
        connections: Int, connectionsMaximum: Int? = nil, streams: Int = ClientScenario.streams, window: Int
    ) throws -> (client: APNsClient, load: PushLoad, metrics: MetricsRegistry) {
        var limits = PoolLimits()
        limits.connections = connections
        // A figure is about a number of connections, so the pool may not choose another unless that is the question.
        limits.connectionsMaximum = connectionsMaximum ?? connections
        limits.streamsMaximum = streams
        limits.outstandingMaximum = max(limits.outstandingMaximum, 2 * window)
        let route = try APNsRoute(
            app: "chat", environment: .production, endpoint: "127.0.0.1:\(port)",
            extraTrustAnchorsFile: bench.folder + "/" + anchor, tokenSource: source, limits: limits)
        let metrics = MetricsRegistry()
        let client = try APNsClient(
            configuration: APNsClientConfiguration(routes: [route]), logger: .silent, metrics: metrics)
        guard let deviceToken = DeviceToken(hexadecimal: Self.token) else {
            preconditionFailure("64 digits are a token")
        }
        let content = PushContent(
            payload: payload, topic: Workbench.bundleID, pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        let load = PushLoad(transport: client, content: content, tokens: [deviceToken], window: window)
        client.start(handler: load)
        return (client, load, metrics)
    }

    /// Measures the cost of a number of pushes, from the first connection to the last answer.
    func measure(
        count: Int, connections: Int, streams: Int = ClientScenario.streams
    ) async throws -> LoadTool.Figures {
        let (client, load, _) = try start(connections: connections, streams: streams, window: streams * connections)
        let figures = try await Self.measure(load, count: count)
        await client.close()
        return figures
    }

    /// Measures the cost of a number of pushes.
    static func measure(_ load: PushLoad, count: Int) async throws -> LoadTool.Figures {
        let clock = ContinuousClock()
        let cpu = ProcessorTime.ownMicroseconds()
        let start = clock.now
        let accepted = await load.run(count: count)
        let elapsed = start.duration(to: clock.now)
        let spent = ProcessorTime.ownMicroseconds() - cpu
        guard accepted == count else {
            throw BenchmarkFailure(description: "only \(accepted) of \(count) pushes were accepted")
        }
        return LoadTool.Figures(
            perSecond: Double(count) / elapsed.seconds, microseconds: spent / Double(count))
    }
}
