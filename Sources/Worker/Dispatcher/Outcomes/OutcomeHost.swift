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
    private struct State {
        var loaded: LoadedConfiguration
        var run: Run
    }

    /// The log of the process.
    public let logger: Logger
    private let state: Mutex<State>
    private let threshold: LogThreshold
    private let listen: HostPort?
    private let metrics: MetricsRegistry
    private let version: String
    private let admin = Mutex<AdminServer?>(nil)
    private let reloader: Reloader

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
        threshold = LogThreshold(configuration.log.level)
        logger = LogSink(configuration.log).logger(threshold: threshold)
        loaded.logWarnings(logger)
        self.listen = listen
        self.version = version
        self.metrics = metrics
        reloader = Reloader(logger: logger, metrics: metrics)
        let run = try Run(configuration, version: version, metrics: metrics, logger: logger)
        state = Mutex(State(loaded: loaded, run: run))
    }

    /// Serves health and metrics, makes sure of the queues, and begins to consume.
    ///
    /// A broker that is away is no error: it is tried for as long as it takes.
    ///
    /// - Throws: `WorkerError` if the address cannot be had, or a queue is missing.
    public func start() async throws(WorkerError) {
        let (configuration, run) = state.withLock { ($0.loaded.configuration, $0.run) }
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
        run.start()
    }

    /// Finishes what is under way, and ends.
    ///
    /// - Returns: whether all of it was finished in time; RabbitMQ delivers the rest again.
    public func stop() async -> Bool {
        let isComplete = await state.withLock { $0.run }.stop()
        admin.withLock { $0 }?.stop()
        return isComplete
    }

    // MARK: Reload

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await reloader.reload(from: state.withLock { $0.loaded }, read: read) {
            [self] new, change throws(WorkerError) in
            if change.needsNewParts { try await replace(for: new.configuration) }
            state.withLock { $0.loaded = new }
            threshold.set(new.configuration.log.level)
        }
    }

    /// The new consumers begin beside the old ones, whose deliveries they do not get.
    private func replace(for new: Configuration) async throws(WorkerError) {
        try Run.check(new)
        try await prepareQueues(new)
        let run = try Run(new, version: version, metrics: metrics, logger: logger)
        run.start()
        let old = state.withLock { state in
            defer { state.run = run }
            return state.run
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
        AdminRoutes(
            liveness: { [self] in state.withLock { $0.run }.livenessChecks },
            readiness: { [self] in state.withLock { $0.run }.readinessChecks },
            metrics: { [metrics] in metrics.render($0) }, product: "apus", version: version)
    }
}
