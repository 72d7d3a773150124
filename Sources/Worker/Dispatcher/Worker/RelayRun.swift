public import AdminServer
public import ChangeQueue
import DispatchCore
public import Metrics
import Relay
public import StructuredLogging
public import WorkerConfiguration

/// The relay of one configuration.
public final class RelayRun: OutcomeRun {
    private let relay: OutboxRelay
    private let drainSeconds: Double
    private let metrics: MetricsRegistry
    private let logger: Logger

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

    /// Builds the parts; nothing is moved before `start`.
    public init(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) {
        let metrics = metrics.makePart()
        self.metrics = metrics
        self.logger = logger
        drainSeconds = configuration.worker.drainTimeout.seconds
        do {
            let broker = try configuration.broker(purpose: "relay")
            relay = try OutboxRelay(
                url: configuration.relay.url.revealed, batch: configuration.relay.batchMaximum,
                exchange: configuration.topology.names.changes,
                publisher: ConfirmedPublisher(configuration: broker, logger: logger, metrics: metrics),
                apps: configuration.pipeline.apps, metrics: metrics, logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Begins to move rows.
    public func start() {
        relay.start()
        logger.log(.info, "relay.started")
    }

    /// Takes no more rows, and finishes those under way within `worker.drain_timeout`.
    public func stop() async -> Bool {
        let isComplete = await relay.stop(withinSeconds: drainSeconds)
        metrics.end()
        return isComplete
    }

    /// Whether the loop turns.
    public var livenessChecks: [HealthCheck] {
        [HealthCheck(loop: "relay", nanosecondsSinceLastTick: relay.nanosecondsSinceLastTick())]
    }

    /// Whether rows can be moved.
    public var readinessChecks: [HealthCheck] {
        let health = relay.health
        return [
            HealthCheck("outbox", failure: health.outboxProblem), HealthCheck("broker", failure: health.brokerProblem),
        ]
    }
}
