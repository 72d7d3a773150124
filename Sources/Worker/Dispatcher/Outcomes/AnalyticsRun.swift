public import AdminServer
public import ChangeQueue
import EventLoop
public import Metrics
import Notifications
import RegistryCore
public import StructuredLogging
public import WorkerConfiguration

/// The counter of one configuration.
public final class AnalyticsRun: OutcomeRun {
    /// The most messages that the counter holds: each tells of up to 500 pushes.
    private static let prefetchMaximum: UInt16 = 100

    private let configuration: Configuration
    private let counter: CampaignCounter
    private let metrics: MetricsRegistry
    private let logger: Logger

    /// Refuses a configuration that does not count campaigns.
    public static func check(_ configuration: Configuration) throws(WorkerError) {
        guard configuration.analytics.isEnabled else {
            throw WorkerError(
                .configuration, "campaigns are not counted: set analytics.enabled = true; see deploy/campaigns.md")
        }
        guard configuration.apps.contains(where: { !$0.outcomes.isEmpty }) else {
            throw WorkerError(
                .configuration, "no app publishes outcomes: set app.N.outcomes, for example outcomes = [\"all\"]")
        }
    }

    /// Finds out whether the queue of outcomes that are counted is missing.
    public static func findMissingQueues(
        of topology: Topology, at broker: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] {
        try await topology.findMissingAnalytics(at: broker)
    }

    /// Opens the registry, and builds the counter.
    public init(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) {
        self.configuration = configuration
        self.logger = logger
        let metrics = metrics.makePart()
        self.metrics = metrics
        try configuration.prepareRegistry(logger)
        do {
            let store: any CountingRegistry = try configuration.registry.open(
                mode: .readWrite, sqlite: { $0 }, postgres: { $0 })
            try store.requireSchema(CampaignRules.schemaVersion, for: "Counting campaigns")
            var broker = try configuration.broker(purpose: "analytics")
            broker.prefetch = min(broker.prefetch, Self.prefetchMaximum)
            let source = try OutcomeConsumer(
                configuration: broker, queue: .durable(name: configuration.topology.names.analytics),
                connection: "analytics", logger: logger, metrics: metrics)
            counter = CampaignCounter(
                source: source, loop: try EventLoop(name: "campaigns"), registry: store,
                retentionHours: configuration.analytics.retentionHours, metrics: metrics,
                logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Begins to count.
    public func start() {
        counter.start()
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
                    .field("advice", "outcomes of the app lacks some, which are not counted; set it to [\"all\"]"),
                ])
        }
    }

    /// Ends; outcomes that are not counted go back to their queue.
    public func stop() async -> Bool {
        await counter.stop()
        metrics.end()
        return true
    }

    /// Whether the loop turns.
    public var livenessChecks: [HealthCheck] {
        [HealthCheck(loop: "campaigns", nanosecondsSinceLastTick: counter.nanosecondsSinceLastTick())]
    }

    /// Whether outcomes come, and can be counted.
    public var readinessChecks: [HealthCheck] {
        [
            HealthCheck("broker", failure: counter.consumptionProblem),
            HealthCheck("registry", failure: counter.registryProblem),
        ]
    }
}
