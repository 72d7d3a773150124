import AdminServer
import ChangeQueue
import Metrics
import Notifications
import PushCore
import Webhooks

/// The consumers and the service of one configuration; a reload replaces it.
final class WebhookRun: Sendable {
    /// What a process holds of an app's queue for each request that may be under way: one more is at hand when it ends.
    private static let prefetchForRequest = 2

    private let service: WebhookService
    private let metrics: MetricsRegistry
    private let drainSeconds: Double

    /// Builds the parts; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - configuration: checked before, with at least one webhook.
    ///   - version: the version of the program.
    ///   - metrics: where the parts register their instruments.
    ///   - logger: where events of interest go.
    /// - Throws: `WorkerError` if there is no thread.
    init(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) {
        let metrics = metrics.makePart()
        self.metrics = metrics
        drainSeconds = configuration.worker.drainTimeout.seconds
        do {
            let names = configuration.topology.names
            let routes = try configuration.webhookEndpoints.map { endpoint in
                var broker = try configuration.broker(purpose: "webhooks")
                broker.prefetch = UInt16(clamping: endpoint.requestsMaximum * Self.prefetchForRequest)
                let source = try OutcomeConsumer(
                    configuration: broker, queue: .durable(name: names.webhook(app: endpoint.app)),
                    connection: "webhook \(endpoint.app)", logger: logger, metrics: metrics)
                return WebhookService.Route(endpoint: endpoint, source: source) { delay in
                    names.webhookRetry(app: endpoint.app, delayMilliseconds: delay)
                }
            }
            let publisher = try ConfirmedPublisher(
                configuration: configuration.broker(purpose: "webhooks"), logger: logger, metrics: metrics)
            service = try WebhookService(
                routes, publisher: publisher, userAgent: Configuration.webhookUserAgent(version), metrics: metrics,
                logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Begins to consume.
    func start() { service.start() }

    /// Finishes what was begun, within the time of `worker.drain_timeout`.
    ///
    /// - Returns: whether all of it was finished.
    func stop() async -> Bool {
        let isComplete = await service.stop(withinSeconds: drainSeconds)
        metrics.end()
        return isComplete
    }

    /// Whether the loop turns.
    var livenessChecks: [HealthCheck] {
        [HealthCheck(loop: "webhooks", nanosecondsSinceLastTick: service.nanosecondsSinceLastTick())]
    }

    /// Whether something can be posted; an app in trouble leaves the process ready for the others.
    var readinessChecks: [HealthCheck] {
        let health = service.health
        return [HealthCheck("broker", failure: health.problem)]
            + health.endpoints.map { endpoint in
                HealthCheck(
                    "webhook \(endpoint.app)", failure: endpoint.consumptionProblem ?? endpoint.endpointProblem,
                    onlyDegrades: true)
            }
    }
}

extension Configuration {
    /// The program as the backends of apps may log it.
    public static func webhookUserAgent(_ version: String) -> String { "apus/\(version)" }
}
