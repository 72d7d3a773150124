public import AdminServer
public import ChangeQueue
public import Metrics
public import StructuredLogging
import Synchronization
public import WorkerConfiguration

/// The parts of one configuration that consume outcomes; a reload replaces them.
public protocol OutcomeRun: Sendable {
    /// Refuses a configuration in which there is nothing to consume.
    ///
    /// - Throws: `WorkerError` with what to set.
    static func check(_ configuration: Configuration) throws(WorkerError)

    /// Finds the queues that it consumes and that are not there.
    static func findMissingQueues(
        of topology: Topology, at broker: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String]

    /// Builds the parts; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - configuration: checked before.
    ///   - version: the version of the program.
    ///   - metrics: where the parts register their instruments.
    ///   - logger: where events of interest go.
    /// - Throws: `WorkerError` if something outside cannot be used, or there is no thread.
    init(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError)

    /// Begins to consume, and says in the log what.
    func start()

    /// Finishes the work under way; unfinished deliveries go back to their queue.
    ///
    /// - Returns: whether all of it was finished in time.
    func stop() async -> Bool

    /// Whether its loops turn.
    var livenessChecks: [HealthCheck] { get }

    /// Whether it can do its work.
    var readinessChecks: [HealthCheck] { get }
}

/// A process that consumes outcomes, with health, metrics and reload.
public final class OutcomeHost<Run: OutcomeRun>: Sendable {
    private let running: RunningConfiguration
    private let run: Mutex<Run>
    private let listen: HostPort?
    private let admin = Mutex<AdminServer?>(nil)

    /// Builds the parts; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - loaded: the configuration.
    ///   - listen: where health and metrics are served; nil for nowhere.
    ///   - version: the version of the program.
    ///   - metrics: where the instruments are registered.
    /// - Throws: `WorkerError` if there is nothing to consume, or a part cannot be had.
    public init(
        _ loaded: LoadedConfiguration, listen: HostPort?, version: String, metrics: MetricsRegistry
    ) throws(WorkerError) {
        let configuration = loaded.configuration
        try Run.check(configuration)
        running = RunningConfiguration(loaded, version: version, metrics: metrics)
        self.listen = listen
        run = Mutex(try Run(configuration, version: version, metrics: metrics, logger: running.logger))
    }

    /// The log of the process.
    public var logger: Logger { running.logger }

    /// Serves health and metrics, makes sure of the queues, and begins to consume.
    ///
    /// A broker that is away is no error: it is tried for as long as it takes.
    ///
    /// - Throws: `WorkerError` if the address cannot be had, or a queue is missing.
    public func start() async throws(WorkerError) {
        let configuration = running.current
        if let listen {
            do {
                let server = try AdminServer(
                    host: listen.host, port: listen.port, settingName: "--listen", names: configuration.admin.hosts,
                    routes: adminRoutes)
                admin.withLock { $0 = server }
                logger.log(.info, "admin.listening", [.field("port", Int(server.port))])
            } catch { throw WorkerError(.unavailable, "\(error)") }
        }
        try await prepareQueues(configuration)
        run.withLock { $0 }.start()
    }

    /// Finishes what is under way, and ends.
    ///
    /// - Returns: whether all of it was finished in time; RabbitMQ delivers the rest again.
    public func stop() async -> Bool {
        let isComplete = await run.withLock { $0 }.stop()
        admin.withLock { $0 }?.stop()
        return isComplete
    }

    // MARK: Reload

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await running.reload(read) { [self] new throws(WorkerError) in try await replace(for: new) }
    }

    /// The new consumers begin beside the old ones, whose deliveries they do not get.
    private func replace(for new: Configuration) async throws(WorkerError) {
        try Run.check(new)
        try await prepareQueues(new)
        let replacement = try Run(new, version: running.version, metrics: running.metrics, logger: logger)
        replacement.start()
        let old = run.withLock { run in
            defer { run = replacement }
            return run
        }
        _ = await old.stop()
    }

    private func prepareQueues(_ configuration: Configuration) async throws(WorkerError) {
        let missing: [String]
        do throws(ChangeQueueError) {
            let broker = try configuration.broker(purpose: "topology")
            if configuration.worker.declaresTopology { _ = try await configuration.topology.apply(to: broker) }
            missing = try await Run.findMissingQueues(of: configuration.topology, at: broker)
        } catch {
            if error.code == .unavailable {
                return logger.log(.warning, "outcomes.broker.away", [.field("reason", error.message)])
            }
            throw WorkerError(starting: error)
        }
        guard missing.isEmpty else {
            // Another process may be about to make them.
            throw WorkerError(
                .unavailable, "RabbitMQ lacks \(missing.joined(separator: ", ")); run `apus topology apply` first")
        }
    }

    // MARK: Health

    /// The answers about health and metrics.
    public var adminRoutes: AdminRoutes {
        running.adminRoutes(
            liveness: { [self] in run.withLock { $0 }.livenessChecks },
            readiness: { [self] in run.withLock { $0 }.readinessChecks })
    }
}

/// `apus relay`: health, metrics and reload are those of what consumes outcomes.
extension RelayRun: OutcomeRun {
    /// Refuses a configuration without an outbox.
    public static func check(_ configuration: Configuration) throws(WorkerError) {
        guard configuration.relay.isConfigured else {
            throw WorkerError(
                .configuration, "there is no outbox: set relay.url to the backend's database; see deploy/relay.md")
        }
    }

    /// Finds none: a relay consumes no queue, and RabbitMQ returns what no queue takes.
    public static func findMissingQueues(
        of topology: Topology, at broker: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] { [] }
}
