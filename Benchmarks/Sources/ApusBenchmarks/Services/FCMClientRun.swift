import ConnectionPool
import FCMTransport
import Metrics
import Notifications
import ServiceClient
import StructuredLogging

/// How the client of FCM is run against a simulator.
struct FCMClientRun {
    /// The requests that FCM allows on a connection.
    static let streams = 100

    let bench: Workbench
    let port: UInt16

    /// Measures the cost of a number of messages, from the first connection to the last answer.
    ///
    /// - Parameters:
    ///   - count: the number of messages.
    ///   - connections: how many connections the pool has, each with all its streams in use.
    /// - Returns: the rate, and the processor time of a message.
    /// - Throws: `BenchmarkFailure` if not all were accepted, and the client's error if it cannot be made.
    func measure(count: Int, connections: Int) async throws -> LoadTool.Figures {
        let (client, source, load) = try await start(connections: connections)
        let figures = try await ClientRun.measure(load, count: count)
        await client.close()
        source.stop()
        return figures
    }

    /// Starts a client that has its access token, and what loads it.
    func start(connections: Int) async throws -> (client: ServiceClient, source: AccessTokenSource, load: PushLoad) {
        var limits = FCMRoute.defaultLimits
        limits.connections = connections
        limits.connectionsMaximum = connections
        limits.streamsMaximum = Self.streams
        limits.outstandingMaximum = max(limits.outstandingMaximum, 2 * connections * Self.streams)
        let anchor = bench.folder + "/fcm.pem"
        let source = try AccessTokenSource(
            ServiceAccountCredentials(
                .file(bench.folder + "/account.json"),
                endpoint: TokenEndpoint(url: "https://127.0.0.1:\(port)/token", caFile: anchor)))
        let route = try FCMRoute.make(
            app: "chat", projectID: ServiceContent.project, endpoint: "127.0.0.1:\(port)",
            extraTrustAnchorsFile: anchor, tokenSource: source, limits: limits)
        let client = try ServiceClient(
            routes: [route], loopName: "fcm", logger: .silent, metrics: MetricsRegistry())
        let load = PushLoad(
            transport: client, content: try ServiceContent.content(for: .fcm),
            tokens: [try ServiceContent.registrationToken()], window: connections * Self.streams)
        client.start(handler: load)
        // The access token is fetched once an hour, and belongs to no message.
        _ = await load.run(count: 1)
        return (client, source, load)
    }
}
