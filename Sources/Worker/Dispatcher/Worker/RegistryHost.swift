public import AdminServer
public import Metrics
import RegistryAPI
public import StructuredLogging
import Synchronization
public import WorkerConfiguration

/// The registry's API of a process without a worker; a reload replaces its server.
public final class RegistryHost: Sendable {
    /// The port of the API.
    public let port: UInt16
    private let running: RunningConfiguration
    private let service: Mutex<RegistryService>
    private let listen: HostPort
    /// The name of this process among all that use the registry.
    private let identifier = WorkerReporter.makeIdentifier()
    private let admin = Mutex<AdminService?>(nil)
    private let reporter = Mutex<WorkerReporter?>(nil)

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
        running = RunningConfiguration(loaded, version: version, metrics: metrics)
        listen = configuration.registryAPI.listen ?? Configuration.RegistryAPI.standardListen
        try configuration.prepareRegistry(running.logger)
        let service = try RegistryService(configuration, at: listen, metrics: metrics, logger: running.logger)
        port = service.server.port
        self.service = Mutex(service)
    }

    /// The log of the process.
    public var logger: Logger { running.logger }

    /// Serves health, metrics and the operator's page, and begins to report to the other processes.
    ///
    /// - Throws: `WorkerError` if the address or a thread cannot be had.
    public func start() throws(WorkerError) {
        let configuration = running.current
        let reporter = try configuration.registryReporter(
            of: { [self] in service.withLock { $0 } }, identifier: identifier, version: running.version, logger: logger)
        let adminService = try AdminService(
            configuration, routes: adminRoutes, process: identifier, hasBroker: false, logger: logger)
        admin.withLock { $0 = adminService }
        self.reporter.withLock { $0 = reporter }
        reporter.start()
    }

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await running.reload(read) { [self] new throws(WorkerError) in try await replaceService(for: new) }
    }

    private func replaceService(for new: Configuration) async throws(WorkerError) {
        let old = service.withLock { $0 }
        let replacement = try RegistryService(
            new, at: listen, metrics: running.metrics, logger: logger, takingOver: old)
        do throws(WorkerError) {
            try admin.withLock { $0 }?.reload(new)
        } catch {
            await replacement.stop()
            throw error
        }
        service.withLock { $0 = replacement }
        await old.stop()
    }

    /// Takes the report back, answers received requests, and closes the ports.
    public func stop() async {
        await reporter.withLock { $0 }?.stop()
        await service.withLock { $0 }.stop()
        admin.withLock { $0 }?.stop()
    }

    /// The answers about health and metrics, for as long as the API is served.
    public var adminRoutes: AdminRoutes {
        running.adminRoutes(
            liveness: { [self] in [service.withLock { $0 }.livenessCheck] },
            readiness: { [self] in service.withLock { $0 }.readinessChecks("registry") })
    }
}
