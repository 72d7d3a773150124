import ChangeQueue
import DispatchCore
import Metrics
import RegistryAPI
import RegistryCore
import StructuredLogging
import WorkerConfiguration

extension Configuration {
    /// Serves the registry over HTTP, with connections of its own to the store.
    ///
    /// - Parameters:
    ///   - listen: where.
    ///   - publisher: publishes events; nil if none are taken.
    ///   - metrics: where the counters are registered.
    ///   - logger: where events of interest go.
    ///   - predecessor: a running server whose port this one takes over.
    /// - Returns: a server that answers until it is stopped.
    /// - Throws: `WorkerError` if the store, the certificate or the address cannot be used.
    func registryServer(
        at listen: HostPort, publisher: ConfirmedPublisher?, metrics: MetricsRegistry, logger: Logger,
        takingOver predecessor: RegistryServer?
    ) throws(WorkerError) -> RegistryServer {
        var options = RegistryServerConfiguration(
            host: listen.host, port: listen.port,
            apps: apps.map { app in
                RegistryAPIApp(
                    name: app.name, bundleID: app.bundleID, identityPoolIDs: app.identityPools,
                    applicationServerKeys: [app.webPush?.applicationServerKey].compactMap(\.self),
                    pushHosts: webPush.hosts)
            },
            accessKeys: registryAPI.accessKeys.map { key in
                AccessKey(
                    identifier: key.identifier, secret: key.secret.revealed, identityPoolIDs: key.identityPools)
            })
        options.requestsPerSecondMaximum = registryAPI.requestsPerSecondMaximum
        options.publicURL = registryAPI.publicURL
        options.hosts = registryAPI.hosts
        options.connectionsPerAddressMaximum = registryAPI.connectionsPerAddressMaximum
        options.trustedProxies = registryAPI.trustedProxies
        options.allowedOrigins = registryAPI.allowedOrigins
        options.opensKeptHours = analytics.retentionHours
        options.keepsHistory = history.isKept
        options.events = publisher.map { publisher in
            var publishing = EventPublishing(
                publisher: publisher, exchange: topology.names.changes, apps: pipeline.apps,
                sources: pipeline.sources, eventsPerSecondMaximum: registryAPI.eventsPerSecondMaximum)
            if events.remember.milliseconds > 0 { publishing.memory = SharedEventMemory(pipeline.limits) }
            return publishing
        }
        options.events?.keepsHistory = history.isKept
        for key in registryAPI.serverKeys { options.serverKeys.append(try Self.serverKey(key)) }
        if let certificateFile = registryAPI.certificateFile, let keyFile = registryAPI.keyFile {
            options.identity = (try Self.text(of: certificateFile), try Self.text(of: keyFile))
        }
        do {
            let registry = try openServed(mode: .readWrite)
            let reader = try openServed(mode: .readOnly)
            return try RegistryServer(
                configuration: options, registry: registry, reader: reader, metrics: metrics, logger: logger,
                takingOver: predecessor)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// The publisher of events that come over HTTP, and the metrics that it counts in; nil without such events.
    func eventPublisher(
        metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) -> (publisher: ConfirmedPublisher, metrics: MetricsRegistry)? {
        guard registryAPI.takesEvents else { return nil }
        let metrics = metrics.makePart()
        do {
            let broker = try broker(purpose: "events")
            return (
                try ConfirmedPublisher(
                    configuration: broker, connection: "events", logger: logger, metrics: metrics), metrics
            )
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Opens the registry for clients, who have quotas and do not wait long for others who write.
    private func openServed(mode: RegistryOpenMode) throws(RegistryError) -> sending any ServedRegistry {
        try registry.open(
            mode: mode, quotas: registryAPI.quotas, lockMilliseconds: Self.lockMilliseconds, sqlite: { $0 },
            postgres: { $0 })
    }

    /// How long a request waits for another session's lock, before it is answered with 503.
    private static let lockMilliseconds = 1_000

    private static func serverKey(_ key: RegistryAPI.ServerKey) throws(WorkerError) -> ServerKey {
        let text = try text(of: key.publicKeyFile)
        do {
            return try ServerKey(
                identifier: key.identifier, publicKeyPEM: Array(text.utf8), app: key.app, permission: key.permission,
                userID: key.userID)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    private static func text(of path: String) throws(WorkerError) -> String {
        do {
            return String(decoding: try ConfigurationFile.read(path), as: UTF8.self)
        } catch {
            throw WorkerError(
                error.isTransient ? .unavailable : .configuration, "cannot read \(path): \(error)")
        }
    }
}
