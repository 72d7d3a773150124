public import AdminServer
import ChangeEvents
public import ChangeQueue
import EventLoop
public import Metrics
import Notifications
import RegistryCore
public import StructuredLogging
import Synchronization
public import WorkerConfiguration

/// The consumer and the counter of one configuration.
public final class AnalyticsRun: OutcomeRun {
    /// The most messages that the counter holds: each tells of up to 500 pushes.
    private static let prefetchMaximum: UInt16 = 100

    private let configuration: Configuration
    private let source: OutcomeConsumer
    private let counter: LoopBound<CampaignCounter>
    private let health = CampaignHealth()
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
            let registry: any CountingRegistry = try configuration.registry.open(
                mode: .readWrite, sqlite: { $0 }, postgres: { $0 })
            try registry.requireSchema(CampaignRules.schemaVersion, for: "Counting campaigns")
            let broker = try configuration.broker(purpose: "analytics")
            let queue = OutcomeConsumer.Queue.durable(
                name: configuration.topology.names.analytics, prefetch: min(broker.prefetch, Self.prefetchMaximum))
            let source = try OutcomeConsumer(
                [queue], configuration: broker, connection: "analytics", logger: logger, metrics: metrics)
            self.source = source
            let loop = try EventLoop(name: "campaigns")
            counter = LoopBound(
                CampaignCounter(
                    registry: registry, loop: loop, retentionHours: configuration.analytics.retentionHours,
                    health: health, metrics: CampaignMetrics(metrics), logger: logger
                ) { source.settle($0, of: 0) }, to: loop)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Begins to count, and to forget what is too old.
    public func start() {
        counter.loop.submit { [counter] in counter.value.start() }
        source.start { [counter, health] event in
            switch event {
            case .received(let deliveries, _): counter.loop.submit { counter.value.received(deliveries) }
            case .changed(let state, _):
                health.consumption.withLock { $0 = state.problem }
                guard case .consuming = state else { return }
                counter.loop.submit { counter.value.connectionBegan() }
            }
        }
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
        try? await counter.loop.run { [counter] in counter.value.stop() }
        await source.close()
        counter.loop.stopAndJoin()
        metrics.end()
        return true
    }

    /// Whether the loop turns.
    public var livenessChecks: [HealthCheck] {
        [HealthCheck(loop: "campaigns", nanosecondsSinceLastTick: counter.loop.nanosecondsSinceLastTick())]
    }

    /// Whether outcomes come, and can be counted.
    public var readinessChecks: [HealthCheck] {
        [
            HealthCheck("broker", failure: health.consumption.withLock { $0 }),
            HealthCheck("registry", failure: health.registry.withLock { $0 }),
        ]
    }
}
