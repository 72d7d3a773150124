public import AdminServer
public import Metrics
import RegistryAPI
public import StructuredLogging
import Synchronization
public import WorkerConfiguration

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
    /// The name of this process among all that use the registry.
    private let identifier = WorkerReporter.makeIdentifier()
    private let version: String
    private let admin = Mutex<AdminService?>(nil)
    private let reporter = Mutex<WorkerReporter?>(nil)
    private let reloader: Reloader

    /// Begins to serve.
    ///
    /// - Parameters:
    ///   - loaded: the configuration.
    ///   - version: the version of the program.
    ///   - metrics: where the counters are registered.
    /// - Throws: `WorkerError` if the store, the certificate or the address cannot be used.
    public init(
        _ loaded: LoadedConfiguration, version: String, metrics: MetricsRegistry
    ) throws(WorkerError) {
        let configuration = loaded.configuration
        self.version = version
        threshold = LogThreshold(configuration.log.level)
        logger = LogSink(configuration.log).logger(threshold: threshold)
        loaded.logWarnings(logger)
        self.metrics = metrics
        reloader = Reloader(logger: logger, metrics: metrics)
        listen = configuration.registryAPI.listen ?? Configuration.RegistryAPI.standardListen
        try configuration.prepareRegistry(logger)
        let service = try RegistryService(configuration, at: listen, metrics: metrics, logger: logger)
        port = service.server.port
        state = Mutex(State(loaded: loaded, service: service))
    }

    /// Serves health, metrics and the operator's page, and begins to report to the other processes.
    ///
    /// - Throws: `WorkerError` if the address or a thread cannot be had.
    public func start() throws(WorkerError) {
        let configuration = state.withLock { $0.loaded }.configuration
        let reporter = try configuration.registryReporter(
            of: { [self] in state.withLock { $0.service } }, identifier: identifier, version: version, logger: logger)
        let service = try AdminService(
            configuration, routes: adminRoutes, process: identifier, hasBroker: false, logger: logger)
        admin.withLock { $0 = service }
        self.reporter.withLock { $0 = reporter }
        reporter.start()
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
        if change.needsNewParts { try replaceService(for: new) }
        state.withLock { $0.loaded = new }
        threshold.set(new.configuration.log.level)
    }

    private func replaceService(for new: LoadedConfiguration) throws(WorkerError) {
        let old = state.withLock { $0.service }
        let service = try RegistryService(
            new.configuration, at: listen, metrics: metrics, logger: logger, takingOver: old)
        do throws(WorkerError) {
            try admin.withLock { $0 }?.reload(new.configuration)
        } catch {
            service.stop()
            throw error
        }
        state.withLock { $0.service = service }
        old.stop()
    }

    /// Takes the report back, answers received requests, and closes the ports.
    public func stop() async {
        await reporter.withLock { $0 }?.stop()
        state.withLock { $0.service }.stop()
        admin.withLock { $0 }?.stop()
    }

    /// The answers about health and metrics, for as long as the API is served.
    public var adminRoutes: AdminRoutes {
        AdminRoutes(
            liveness: { [self] in [state.withLock { $0.service }.livenessCheck] },
            readiness: { [self] in state.withLock { $0.service }.readinessChecks("registry") },
            metrics: { [metrics] in metrics.render($0) }, product: "apus", version: version)
    }
}
