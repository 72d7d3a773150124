public import AdminServer
public import Metrics
public import Notifications
import PushCore
import RegistryAPI
import Synchronization

/// The registry's API of a process without a worker; a reload replaces its server.
public final class RegistryHost: Sendable {
    private struct State {
        var loaded: LoadedConfiguration
        var service: RegistryService
    }

    /// The log of the process.
    public let logger: Logger
    /// The port of the API.
    public let port: UInt16
    private let state: Mutex<State>
    private let threshold: LogThreshold
    private let listen: HostPort
    private let metrics: MetricsRegistry
    private let reloader: Reloader

    /// Begins to serve.
    ///
    /// - Parameters:
    ///   - loaded: the configuration.
    ///   - metrics: where the counters are registered.
    /// - Throws: `WorkerError` if the store, the certificate or the address cannot be used.
    public init(_ loaded: LoadedConfiguration, metrics: MetricsRegistry) throws(WorkerError) {
        let configuration = loaded.configuration
        threshold = LogThreshold(configuration.log.level)
        logger = LogSink(configuration.log).logger(threshold: threshold)
        self.metrics = metrics
        reloader = Reloader(logger: logger, metrics: metrics)
        listen = configuration.registryAPI.listen ?? Configuration.RegistryAPI.standardListen
        try configuration.prepareRegistry(logger)
        let service = try RegistryService(configuration, at: listen, metrics: metrics, logger: logger)
        port = service.server.port
        state = Mutex(State(loaded: loaded, service: service))
    }

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await reloader.reload(from: state.withLock { $0.loaded }, read: read) {
            [self] new, change throws(WorkerError) in
            try apply(new, change)
        }
    }

    private func apply(_ new: LoadedConfiguration, _ change: ConfigurationChange) throws(WorkerError) {
        threshold.set(new.configuration.log.level)
        guard change.needsNewParts else { return state.withLock { $0.loaded = new } }
        let old = state.withLock { $0.service }
        let service = try RegistryService(
            new.configuration, at: listen, metrics: metrics, logger: logger, takingOver: old)
        state.withLock { $0 = State(loaded: new, service: service) }
        old.stop()
    }

    /// Answers received requests, and closes the port.
    public func stop() { state.withLock { $0.service }.stop() }

    /// The admin server's routes about the API.
    ///
    /// - Parameter version: the version of the program.
    /// - Returns: the routes, to be served for as long as the API is.
    public func adminRoutes(version: String) -> AdminRoutes {
        AdminRoutes(
            liveness: { [self] in [state.withLock { $0.service }.livenessCheck] },
            readiness: { [self] in [HealthCheck("registry", failure: state.withLock { $0.service }.server.failure)] },
            metrics: { [metrics] in metrics.render($0) }, product: "apus", version: version)
    }
}
