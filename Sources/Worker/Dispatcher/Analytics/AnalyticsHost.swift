public import AdminServer
import ChangeQueue
import EventLoop
public import Metrics
public import Notifications
import PushCore
import Synchronization

/// What counts campaigns, in a process of its own; a reload replaces its counter.
public final class AnalyticsHost: Sendable {
    private struct State {
        var loaded: LoadedConfiguration
        var counter: CampaignCounter
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
    /// - Throws: `WorkerError` if campaigns are not to be counted, the registry cannot be used or there is no thread.
    public init(
        _ loaded: LoadedConfiguration, listen: HostPort?, version: String, metrics: MetricsRegistry
    ) throws(WorkerError) {
        let configuration = loaded.configuration
        threshold = LogThreshold(configuration.log.level)
        logger = LogSink(configuration.log).logger(threshold: threshold)
        self.listen = listen
        self.version = version
        self.metrics = metrics
        reloader = Reloader(logger: logger, metrics: metrics)
        try configuration.requireAnalytics()
        try configuration.prepareRegistry(logger)
        let counter = try configuration.campaignCounter(metrics: metrics, logger: logger)
        state = Mutex(State(loaded: loaded, counter: counter))
    }

    /// Serves health and metrics, makes sure of the queue, and begins to count.
    ///
    /// A broker that is away is no error: it is tried for as long as it takes.
    ///
    /// - Throws: `WorkerError` if the address cannot be had, or the queue is missing.
    public func start() async throws(WorkerError) {
        let (configuration, counter) = state.withLock { ($0.loaded.configuration, $0.counter) }
        let server = try configuration.adminServer(at: listen, adminRoutes, logger)
        admin.withLock { $0 = server }
        try await prepareQueue(configuration)
        counter.start()
        logStart(configuration)
    }

    /// Ends; outcomes that are not counted go back to their queue.
    public func stop() async {
        await state.withLock { $0.counter }.stop()
        admin.withLock { $0 }?.stop()
    }

    /// Puts a new configuration in force, or says in the log why the old one stays.
    ///
    /// - Parameter read: reads the configuration.
    public func reload(_ read: () throws(ConfigurationError) -> LoadedConfiguration) async {
        await reloader.reload(from: state.withLock { $0.loaded }, read: read) {
            [self] new, change throws(WorkerError) in
            if change.needsNewParts { try await replaceCounter(for: new.configuration) }
            state.withLock { $0.loaded = new }
            threshold.set(new.configuration.log.level)
        }
    }

    private func replaceCounter(for new: Configuration) async throws(WorkerError) {
        try new.requireAnalytics()
        try await prepareQueue(new)
        let counter = try new.campaignCounter(metrics: metrics, logger: logger)
        let old = state.withLock { state in
            defer { state.counter = counter }
            return state.counter
        }
        await old.stop()
        counter.start()
        logStart(new)
    }

    private func prepareQueue(_ configuration: Configuration) async throws(WorkerError) {
        try await configuration.prepareOutcomeQueues(logger) { (topology, broker) throws(ChangeQueueError) in
            try await topology.findMissingAnalytics(at: broker)
        }
    }

    private func logStart(_ configuration: Configuration) {
        logger.log(
            .info, "campaigns.started",
            [
                .field("queue", configuration.topology.names.analytics),
                .field("retention", configuration.analytics.retention.description),
            ])
        for app in configuration.apps where !app.outcomes.isEmpty && app.outcomes != .all {
            logger.log(
                .warning, "campaigns.incomplete",
                [
                    .field("app", app.name),
                    .field(
                        "advice", "outcomes of the app lacks some, which are not counted; set it to [\"all\"]"),
                ])
        }
    }

    /// The answers about health and metrics.
    public var adminRoutes: AdminRoutes {
        AdminRoutes(
            liveness: { [self] in
                let counter = state.withLock { $0.counter }
                return [
                    HealthCheck(
                        loop: "campaigns", nanosecondsSinceLastTick: counter.nanosecondsSinceLastTick())
                ]
            },
            readiness: { [self] in
                let counter = state.withLock { $0.counter }
                return [
                    HealthCheck("broker", failure: counter.consumptionProblem),
                    HealthCheck("registry", failure: counter.registryProblem),
                ]
            },
            metrics: { [metrics] in metrics.render($0) }, product: "apus", version: version)
    }
}

extension Configuration {
    /// The most messages that the counter holds: each tells of up to 500 pushes.
    private static let countedPrefetchMaximum: UInt16 = 100

    fileprivate func requireAnalytics() throws(WorkerError) {
        guard analytics.isEnabled else {
            throw WorkerError(
                .configuration,
                "campaigns are not counted: set analytics.enabled = true; see deploy/campaigns.md")
        }
        guard apps.contains(where: { !$0.outcomes.isEmpty }) else {
            throw WorkerError(
                .configuration,
                "no app publishes outcomes: set app.N.outcomes, for example outcomes = [\"all\"]")
        }
    }

    fileprivate func campaignCounter(metrics: MetricsRegistry, logger: Logger) throws(WorkerError)
        -> CampaignCounter
    {
        do {
            let store: any CountingRegistry = try registry.open(
                mode: .readWrite, sqlite: { $0 }, postgres: { $0 })
            try store.requireSchema(CampaignRules.schemaVersion, for: "Counting campaigns")
            var broker = try broker(purpose: "analytics")
            broker.prefetch = min(broker.prefetch, Self.countedPrefetchMaximum)
            let source = try OutcomeConsumer(
                configuration: broker, queue: .durable(name: topology.names.analytics), logger: logger,
                metrics: metrics)
            return CampaignCounter(
                source: source, loop: try EventLoop(name: "campaigns"), registry: store,
                retentionHours: Int64(analytics.retention.milliseconds / 3_600_000), metrics: metrics,
                logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }
}
