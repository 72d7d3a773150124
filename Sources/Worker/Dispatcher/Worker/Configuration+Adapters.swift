public import APNsTransport
public import ChangeQueue
import ConnectionPool
import Crypto
import DispatchCore
import EventLoop
import Glibc
import RegistryAPI
import RegistryCore
public import ServiceClient
import StructuredLogging
public import WorkerConfiguration

extension Configuration {
    /// Where the broker is, for one of the things that this process does with it.
    ///
    /// - Parameter purpose: the purpose of the connection, shown by the broker's own tools.
    /// - Returns: the settings for the adapters of the broker.
    /// - Throws: `ChangeQueueError` if a URL cannot be read.
    public func broker(purpose: String) throws(ChangeQueueError) -> BrokerConfiguration {
        var broker = try BrokerConfiguration(
            urls: rabbitMQ.urls.map(\.revealed), caFile: rabbitMQ.caFile ?? "", namespace: rabbitMQ.namespace,
            prefetch: UInt16(clamping: rabbitMQ.prefetch), workQueueCount: rabbitMQ.workQueueCount,
            connectionName: "apus \(purpose) \(Self.hostName) \(getpid())")
        broker.managementURL = rabbitMQ.managementURL?.revealed ?? ""
        return broker
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown host" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The RabbitMQ objects that this configuration needs.
    public var topology: Topology {
        Topology(
            namespace: rabbitMQ.namespace, retryDelaysMilliseconds: retry.delays.map { Int64($0.milliseconds) },
            workQueueCount: rabbitMQ.workQueueCount,
            publishesOutcomes: apps.contains { !$0.outcomes.isEmpty },
            analyticsMessagesMaximum: analytics.isEnabled ? analytics.queueMessagesMaximum : nil,
            webhooks: webhookQueues)
    }

    /// How many connections a worker has for look-ups, each with a thread of its own.
    ///
    /// While PostgreSQL works on a batch, or a distant one is on its way, the worker sends the next ones. SQLite works
    /// on the worker's own processor time, so a second connection would gain nothing.
    var lookUpConnectionCount: Int {
        switch registry {
        case .sqlite: 1
        case .postgres: 3
        }
    }

    /// Opens the registry for the look-ups of the pipeline.
    ///
    /// - Parameters:
    ///   - logger: takes what an operator should know of the registry.
    ///   - metrics: the instruments of the index of subscriptions.
    /// - Returns: the clients, whose loops run.
    /// - Throws: as `registryClient`.
    func lookUpClients(logger: Logger, metrics: RegistryMetrics) throws -> [RegistryClient] {
        var clients: [RegistryClient] = []
        let memory = SharedEventMemory(pipeline.limits)
        do {
            for number in 1...lookUpConnectionCount {
                clients.append(
                    try registryClient(
                        number == 1 ? "registry-reads" : "registry-reads-\(number)", logger: logger, metrics: metrics,
                        memory: memory))
            }
        } catch {
            for client in clients { client.close() }
            throw error
        }
        return clients
    }

    /// Opens the registry for the pipeline, on a loop of its own.
    ///
    /// - Parameters:
    ///   - name: the name of the thread.
    ///   - logger: takes what an operator should know of the registry.
    ///   - metrics: the instruments of the index of subscriptions.
    ///   - memory: knows which events the registry remembers; nil for a client that is not asked.
    /// - Returns: the client, whose loop runs.
    /// - Throws: `RegistryError` as `SQLiteRegistry.open` and `PostgresRegistry.open`; `EventLoopError` if there is no
    ///   thread to be had.
    func registryClient(
        _ name: String, logger: Logger, metrics: RegistryMetrics, memory: (any EventMemoryFollower)? = nil
    ) throws -> RegistryClient {
        // Opened first: a registry that cannot be opened leaves no thread behind.
        let registry = try openPipeline()
        return RegistryClient(
            loop: try EventLoop(name: name), registry: registry, limits: pipeline.limits,
            logger: logger, metrics: metrics, memory: memory, nowMilliseconds: { WallClock.nowMilliseconds() })
    }

    /// The secret that proves receipts, of the registry; nil if no app's devices report opened pushes.
    ///
    /// - Throws: `RegistryError` if the registry cannot be used.
    func receiptAuthentication() throws(RegistryError) -> ReceiptAuthentication? {
        guard apps.contains(where: \.reportsOpens) else { return nil }
        return .ofServers(with: try registry.open(mode: .readWrite).courierKey())
    }

    private func openPipeline() throws(RegistryError) -> sending any PipelineRegistry {
        try registry.open(mode: .readWrite, sqlite: { $0 }, postgres: { $0 })
    }

    /// The client for APNs: two routes for each app that uses it, production first, and one provider token for each
    /// key.
    ///
    /// - Throws: `ServiceError` if a key file or an endpoint is wrong, or two files say to hold the same key and do
    ///   not.
    public func apnsClient() throws(ServiceError) -> APNsClientConfiguration {
        var sources: [APNs.KeyIdentity: (source: ProviderTokenSource, keyFile: String)] = [:]
        var routes: [APNsRoute] = []
        for app in apps {
            guard let apns = app.apns else { continue }
            let identity = APNs.KeyIdentity(apns)
            let source: ProviderTokenSource
            if let shared = sources[identity] {
                try apns.requireSameKey(asIn: shared.keyFile)
                source = shared.source
            } else {
                source = try Self.tokenSource(apns)
                sources[identity] = (source, apns.keyFile)
            }
            var limits = PoolLimits()
            limits.connections = apns.connections
            limits.connectionsUnused = 1
            limits.connectionsMaximum = apns.connectionsMaximum
            limits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
            let proxy = try HTTPProxy.at(apns.proxy?.revealed)
            for environment in [APNsRoute.Environment.production, .sandbox] {
                routes.append(
                    try APNsRoute(
                        app: app.name, environment: environment, endpoint: apns.endpoint?.description ?? "",
                        port: apns.port, extraTrustAnchorsFile: apns.caFile, tokenSource: source,
                        limits: limits, proxy: proxy))
            }
        }
        return APNsClientConfiguration(routes: routes)
    }

    private static func tokenSource(_ apns: APNs) throws(ServiceError) -> ProviderTokenSource {
        let content = try ProviderKeyFile.read(path: apns.keyFile)
        // The one of this process, because APNs limits how often a key's token may change: a reload keeps it.
        return try ProviderTokenSource.shared(key: content.key, keyID: apns.keyID, teamID: apns.teamID)
    }
}

extension Configuration.APNs {
    /// The identity of a key: apps with the same key share a provider token, because APNs counts its updates by key.
    fileprivate struct KeyIdentity: Hashable {
        let keyID: String
        let teamID: String

        init(_ apns: Configuration.APNs) {
            keyID = apns.keyID
            teamID = apns.teamID
        }
    }

    /// Two files may hold the same key, but not two keys under one identifier.
    fileprivate func requireSameKey(asIn otherFile: String) throws(ServiceError) {
        guard keyFile != otherFile else { return }
        let (own, other) = (try ProviderKeyFile.read(path: keyFile), try ProviderKeyFile.read(path: otherFile))
        guard own.key.publicKeyPEM != other.key.publicKeyPEM else { return }
        throw ServiceError(
            .keyInvalid,
            "\(keyFile) and \(otherFile) hold different keys, but both are configured as \(keyID); correct a key_id")
    }
}

extension ProviderKeyWatcher {
    /// Prepares to watch the key files of apps; apps with the same key share its source.
    ///
    /// - Parameters:
    ///   - apps: the apps.
    ///   - routes: the routes to APNs, two for each app that uses it, in the order of the apps.
    ///   - logger: where changes are logged.
    /// - Throws: `ServiceError` if there is no thread.
    convenience init(apps: [Configuration.App], routes: [APNsRoute], logger: Logger) throws(ServiceError) {
        var entries: [Entry] = []
        for (index, apns) in apps.compactMap(\.apns).enumerated() {
            let source = routes[2 * index].tokenSource
            guard !entries.contains(where: { $0.source === source }) else { continue }
            entries.append(Entry(path: apns.keyFile, keyID: apns.keyID, source: source))
        }
        try self.init(entries: entries, logger: logger)
    }
}
