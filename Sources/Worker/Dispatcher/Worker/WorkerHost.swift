public import AdminServer
import ChangeQueue
public import Metrics
import RegistryAPI
public import StructuredLogging
import Synchronization
public import TraceExport
public import WorkerConfiguration

/// The worker of a process, and the registry's API and a relay if the process has them; a reload replaces all.
///
/// A new worker is built from the new configuration and begins to consume beside the old one, which then drains as at a
/// stop. So a reload loses no delivery, applies every key but a few (`ConfigurationKey.Effect`), and what cannot work
/// changes nothing: the old worker goes on.
public final class WorkerHost: Sendable {
    private struct Parts {
        var worker: Worker
        var api: RegistryService?
        var relay: RelayRun?
        var reporter: WorkerReporter
    }

    /// How long a new worker may take to consume: it reads all subscriptions first.
    private static let beginningSecondsMaximum = 300.0

    private let running: RunningConfiguration
    private let parts: Mutex<Parts>
    /// The name of this process among all that use the registry.
    private let identifier = WorkerReporter.makeIdentifier()
    private let admin = Mutex<AdminService?>(nil)
    /// Exports traces as long as the process lives; nil if no address is set.
    private let traceExporter: TraceExporter?
    /// Which events have spans, and the exporter that takes them.
    private let tracing: PipelineTracing?

    /// Builds the worker and begins to serve the API; the worker sends and consumes nothing before `start`.
    ///
    /// - Parameters:
    ///   - loaded: the configuration.
    ///   - version: the version of the program.
    ///   - metrics: where the parts register their counters.
    ///   - tracing: where spans go; nil for nowhere.
    /// - Throws: `WorkerError` if a key, the registry, an address or a thread cannot be had.
    public init(
        _ loaded: LoadedConfiguration, version: String, metrics: MetricsRegistry,
        tracing: TraceExportConfiguration? = nil
    ) throws(WorkerError) {
        let configuration = loaded.configuration
        running = RunningConfiguration(loaded, version: version, metrics: metrics)
        let logger = running.logger
        let traceMetrics = TraceExportMetrics(metrics)
        traceExporter = try tracing?.exporter(
            identifier: identifier, version: version, metrics: traceMetrics, logger: logger)
        self.tracing =
            if let tracing, let traceExporter {
                PipelineTracing(sampler: tracing.sampler, sink: traceExporter)
            } else {
                nil
            }
        try configuration.prepareRegistry(logger)
        let worker = try Worker(
            configuration: configuration, logger: logger, metrics: metrics, tracing: self.tracing)
        let api = try Self.service(configuration, metrics: metrics, logger: logger, takingOver: nil)
        let relay = try Self.relay(configuration, version: version, metrics: metrics, logger: logger)
        let reporter = worker.reporter(identifier: identifier, version: version)
        parts = Mutex(Parts(worker: worker, api: api, relay: relay, reporter: reporter))
        if let api { logger.log(.info, "registry.listening", [.field("port", Int(api.server.port))]) }
    }

    /// The log of the process.
    public var logger: Logger { running.logger }

    /// Serves health, metrics and the operator's page, declares the topology if the configuration says so, and begins
    /// to work.
    ///
    /// - Throws: `WorkerError` if the address cannot be had, or the topology cannot be declared.
    public func start() async throws(WorkerError) {
        let parts = parts.withLock { $0 }
        let service = try AdminService(
            running.current, routes: adminRoutes, process: identifier, hasBroker: true, logger: logger)
        admin.withLock { $0 = service }
        try await parts.worker.start()
        parts.relay?.start()
        parts.reporter.start()
    }

    /// Stops the API and the relay, drains the worker, and says in the log what became of all pushes.
    ///
    /// - Returns: whether everything that was begun was finished in time.
    public func drain() async -> Dispatch.DrainOutcome {
        let parts = parts.withLock { $0 }
        await parts.api?.stop()
        // Rows that it does not finish in time are published again.
        async let relayEnd = parts.relay?.stop()
        let outcome = await parts.worker.drain()
        _ = await relayEnd
        await parts.reporter.stop()
        parts.worker.end()
        await traceExporter?.stop()
        admin.withLock { $0 }?.stop()
        return outcome
    }

    // MARK: Reload

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// To be called by one caller at a time. If its task is cancelled, the old configuration stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await running.reload(read) { [self] new throws(WorkerError) in try await replaceParts(for: new) }
    }

    private func replaceParts(for new: Configuration) async throws(WorkerError) {
        let old = parts.withLock { $0 }
        let worker = try await begin(new)
        var api: RegistryService?
        var relay: RelayRun?
        do throws(WorkerError) {
            api = try Self.service(new, metrics: running.metrics, logger: logger, takingOver: old.api)
            relay = try Self.relay(new, version: running.version, metrics: running.metrics, logger: logger)
            try admin.withLock { $0 }?.reload(new)
        } catch {
            await api?.stop()
            _ = await relay?.stop()
            await abandon(worker)
            throw error
        }
        let reporter = worker.reporter(identifier: identifier, version: running.version)
        parts.withLock { $0 = Parts(worker: worker, api: api, relay: relay, reporter: reporter) }
        relay?.start()
        await old.api?.stop()
        // They share the rows meanwhile.
        _ = await old.relay?.stop()
        await old.reporter.stop()
        reporter.start()
        _ = await old.worker.drain()
        old.worker.end()
    }

    /// Starts a worker beside the present one.
    private func begin(_ configuration: Configuration) async throws(WorkerError) -> Worker {
        try await requireTopology(of: configuration)
        let worker = try Worker(
            configuration: configuration, logger: logger, metrics: running.metrics, tracing: self.tracing)
        do throws(WorkerError) {
            try await worker.start()
            switch await worker.health.waitUntilConsuming(timeoutSeconds: Self.beginningSecondsMaximum) {
            case .consumes: return worker
            case .refused(let reason): throw WorkerError(.configuration, reason)
            case .gaveUp(let reason): throw WorkerError(.unavailable, reason)
            }
        } catch {
            await abandon(worker)
            throw error
        }
    }

    /// Ends a worker that is not needed, as a stop of the process would.
    private func abandon(_ worker: Worker) async {
        _ = await worker.drain()
        worker.end()
    }

    /// Refuses a configuration whose queues are not there, for example after a change of the retry ladder: a worker
    /// without them consumes, and cannot requeue.
    private func requireTopology(of configuration: Configuration) async throws(WorkerError) {
        guard !configuration.worker.declaresTopology else { return }
        let missing: [TopologyObject]
        do {
            missing = try await configuration.topology.findMissing(at: configuration.broker(purpose: "topology"))
        } catch {
            throw WorkerError(starting: error)
        }
        guard missing.isEmpty else {
            throw WorkerError(
                .configuration,
                "RabbitMQ lacks \(missing.map(\.name).joined(separator: ", ")); run `apus topology apply` with the new "
                    + "configuration first")
        }
    }

    private static func service(
        _ configuration: Configuration, metrics: MetricsRegistry, logger: Logger,
        takingOver predecessor: RegistryService?
    ) throws(WorkerError) -> RegistryService? {
        guard let listen = configuration.registryAPI.listen else { return nil }
        return try RegistryService(
            configuration, at: listen, metrics: metrics, logger: logger, takingOver: predecessor)
    }

    private static func relay(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) -> RelayRun? {
        guard configuration.relay.isInWorker else { return nil }
        return try RelayRun(configuration, version: version, metrics: metrics, logger: logger)
    }

    // MARK: Health

    /// The answers about health and metrics, for as long as the worker runs.
    public var adminRoutes: AdminRoutes {
        running.adminRoutes(
            liveness: { [self] in
                let parts = parts.withLock { $0 }
                return parts.worker.livenessChecks + [parts.api].compactMap { $0?.livenessCheck }
                    + (parts.relay?.livenessChecks ?? [])
            },
            readiness: { [self] in
                let parts = parts.withLock { $0 }
                return parts.worker.health.checks.map {
                    HealthCheck($0.concern.rawValue, failure: $0.reason, onlyDegrades: $0.concern.onlyDegrades)
                } + (parts.api?.readinessChecks("registry-api") ?? [])
                    + (parts.relay?.readinessChecks(onlyDegrading: true) ?? [])
            })
    }
}
