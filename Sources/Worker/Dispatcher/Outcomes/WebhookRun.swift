public import AdminServer
public import ChangeQueue
import HTTPClient
public import Metrics
public import StructuredLogging
import Webhooks
public import WorkerConfiguration

/// The consumers and the service of one configuration.
public final class WebhookRun: OutcomeRun {
    /// The deliveries to prefetch for each request that may be under way: one more is at hand when the request ends.
    private static let prefetchForRequest = 2

    private let configuration: Configuration
    private let service: WebhookService
    private let metrics: MetricsRegistry
    private let logger: Logger

    /// Refuses a configuration without a webhook.
    public static func check(_ configuration: Configuration) throws(WorkerError) {
        guard configuration.webhookEndpoints.isEmpty else { return }
        throw WorkerError(
            .configuration,
            "no app has a webhook: set url and secret in a section [app.webhook], and outcomes in its [[app]]; see "
                + "deploy/webhooks.md")
    }

    /// Finds the queues of webhooks that are not there.
    public static func findMissingQueues(
        of topology: Topology, at broker: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] {
        try await topology.findMissingWebhooks(at: broker)
    }

    /// Builds the parts; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - configuration: checked before, with at least one webhook.
    ///   - version: the version of the program.
    ///   - metrics: where the parts register their instruments.
    ///   - logger: where events of interest go.
    /// - Throws: `WorkerError` if there is no thread.
    public init(
        _ configuration: Configuration, version: String, metrics: MetricsRegistry, logger: Logger
    ) throws(WorkerError) {
        let metrics = metrics.makePart()
        self.metrics = metrics
        self.configuration = configuration
        self.logger = logger
        do {
            let names = configuration.topology.names
            let endpoints = configuration.webhookEndpoints
            let queues = endpoints.map { endpoint in
                OutcomeConsumer.Queue.durable(
                    name: names.webhook(app: endpoint.app),
                    prefetch: UInt16(clamping: endpoint.requestsMaximum * Self.prefetchForRequest))
            }
            let broker = try configuration.broker(purpose: "webhooks")
            service = try WebhookService(
                endpoints,
                source: OutcomeConsumer(
                    queues, configuration: broker, connection: "webhooks", logger: logger, metrics: metrics),
                publisher: ConfirmedPublisher(configuration: broker, logger: logger, metrics: metrics),
                retryQueue: names.webhookRetry(app:delayMilliseconds:),
                userAgent: Configuration.webhookUserAgent(version), metrics: metrics, logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Begins to consume.
    public func start() {
        service.start()
        for endpoint in configuration.webhookEndpoints {
            logger.log(
                .info, "webhook.started",
                [
                    .field("app", endpoint.app), .field("endpoint", endpoint.address.origin),
                    .field("queue", configuration.topology.names.webhook(app: endpoint.app)),
                    .field("requestsAtOnce", endpoint.requestsMaximum),
                ])
        }
    }

    /// Finishes what was begun, within the time of `worker.drain_timeout`.
    ///
    /// - Returns: whether all of it was finished.
    public func stop() async -> Bool {
        let isComplete = await service.stop(withinSeconds: configuration.worker.drainTimeout.seconds)
        metrics.end()
        return isComplete
    }

    /// Whether the loop turns.
    public var livenessChecks: [HealthCheck] {
        [HealthCheck(loop: "webhooks", nanosecondsSinceLastTick: service.nanosecondsSinceLastTick())]
    }

    /// Whether something can be posted; an app in trouble leaves the process ready for the others.
    public var readinessChecks: [HealthCheck] {
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
