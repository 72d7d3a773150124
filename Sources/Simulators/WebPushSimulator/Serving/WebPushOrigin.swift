import HTTPServer
import PushServiceSimulator
import Synchronization

/// One running origin: its threads, and where it listens.
final class WebPushOrigin: Sendable {
    /// The parts that its loops share.
    let parts: OriginParts
    /// The threads.
    let loops: SimulatorLoops<WebPushService>
    private let webServer: HTTPServer?

    private init(parts: OriginParts, loops: SimulatorLoops<WebPushService>, webServer: HTTPServer?) {
        self.parts = parts
        self.loops = loops
        self.webServer = webServer
    }

    /// Starts an origin.
    ///
    /// - Parameters:
    ///   - origin: its properties.
    ///   - parts: the parts that its loops share.
    ///   - serving: the properties of the simulator, with the origin's faults and the identity.
    ///   - progress: the number of answers of all origins.
    /// - Returns: the running origin.
    /// - Throws: as `SimulatorLoops.init`.
    static func start(
        _ origin: WebPushSimulatorConfiguration.Origin, _ parts: OriginParts, _ serving: ServingConfiguration,
        progress: SimulatorProgress
    ) async throws -> WebPushOrigin {
        var serving = serving
        serving.port = origin.port
        if origin.port != 0 { parts.listens(on: origin.port) }
        let traits = ServiceTraits(
            headerNames: HeaderNames(PushRequestField.names),
            bodyBytesMaximum: ServiceProfile.bodyBytesMaximum + 1, goAwayDebugData: { Array($0.utf8) })
        let loops = try await SimulatorLoops(
            serving, traits: traits, name: "push-\(origin.name)", progress: progress, listens: !origin.speaksHTTP1
        ) { WebPushService(parts: parts, server: $0) }
        guard origin.speaksHTTP1 else {
            parts.listens(on: loops.port)
            return WebPushOrigin(parts: parts, loops: loops, webServer: nil)
        }
        var configuration = HTTPServerConfiguration(
            name: "the push service \(origin.name)", settingName: "port", host: serving.host, port: origin.port,
            identity: serving.identity)
        configuration.connectionsMaximum = serving.connectionsMaximum
        let webServer = try await loops.serveHTTP1(configuration, WebPushWebHandler(loops))
        parts.listens(on: webServer.port)
        return WebPushOrigin(parts: parts, loops: loops, webServer: webServer)
    }

    /// The numbers so far.
    func summary() async throws -> WebPushSummary {
        var summary = try await loops.summary()
        (summary.distinctMessages, summary.isMessageCountComplete) = parts.accepted.count
        summary.vapidTokens = parts.tokens.count.distinct
        summary.waiting = parts.store.withLock { $0.count }
        summary.earlyAfterRetryAfter = parts.watch.withLock { $0.early }
        summary.trapVisits = parts.trapVisits
        return summary
    }

    /// Says which browsers are online, and lets the messages go that waited for them.
    func change(_ presence: [(beginning: String, isOnline: Bool)]) {
        guard !presence.isEmpty else { return }
        parts.store.withLock { store in
            for (beginning, isOnline) in presence { store.set(beginning, isOffline: !isOnline) }
        }
        loops.submit { $0.deliverWaiting() }
    }

    /// Closes all connections and writes the last records.
    func close() async throws {
        webServer?.stop()
        try await loops.close()
    }

    /// Ends the threads.
    func join() { loops.join() }
}
