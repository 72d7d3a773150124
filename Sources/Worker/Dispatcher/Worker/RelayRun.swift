public import AdminServer
import ChangeQueue
import DispatchCore
public import Metrics
import Relay
public import StructuredLogging
public import WorkerConfiguration

/// The relay of one configuration: of `apus relay`, or beside a worker.
public final class RelayRun: Sendable {
    private let relay: OutboxRelay
    private let drainSeconds: Double
    private let metrics: MetricsRegistry
    private let logger: Logger

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
                publisher: ConfirmedPublisher(
                    configuration: broker, connection: "relay", logger: logger, metrics: metrics),
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
    public var readinessChecks: [HealthCheck] { readinessChecks(onlyDegrading: false) }

    /// Whether rows can be moved; in a worker that only degrades it, because its pushes go on.
    func readinessChecks(onlyDegrading: Bool) -> [HealthCheck] {
        let health = relay.health
        return [("outbox", health.outboxProblem), ("broker", health.brokerProblem)].map {
            HealthCheck($0, failure: $1, onlyDegrades: onlyDegrading)
        }
    }
}
