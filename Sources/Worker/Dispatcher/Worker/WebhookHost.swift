public import AdminServer
import ChangeQueue
import HTTPClient
public import Metrics
public import Notifications
import Synchronization
import Webhooks

/// What posts outcomes to the backends of apps, in a process of its own; a reload replaces its consumers.
public final class WebhookHost: Sendable {
    private struct State {
        var loaded: LoadedConfiguration
        var run: WebhookRun
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
    /// - Throws: `WorkerError` if no app has a webhook, or there is no thread.
    public init(
        _ loaded: LoadedConfiguration, listen: HostPort?, version: String, metrics: MetricsRegistry
    ) throws(WorkerError) {
        let configuration = loaded.configuration
        try Self.requireWebhook(configuration)
        threshold = LogThreshold(configuration.log.level)
        logger = LogSink(configuration.log).logger(threshold: threshold)
        self.listen = listen
        self.version = version
        self.metrics = metrics
        reloader = Reloader(logger: logger, metrics: metrics)
        let run = try WebhookRun(configuration, version: version, metrics: metrics, logger: logger)
        state = Mutex(State(loaded: loaded, run: run))
    }

    /// Serves health and metrics, makes sure of the queues, and begins to post.
    ///
    /// A broker that is away is no error: it is tried for as long as it takes.
    ///
    /// - Throws: `WorkerError` if the address cannot be had, or a queue is missing.
    public func start() async throws(WorkerError) {
        let (configuration, run) = state.withLock { ($0.loaded.configuration, $0.run) }
        let server = try configuration.adminServer(at: listen, adminRoutes, logger)
        admin.withLock { $0 = server }
        try await prepareQueues(configuration)
        run.start()
        logStart(configuration)
    }

    /// Finishes the requests that are under way, and ends.
    ///
    /// - Returns: whether all of them were finished in time; RabbitMQ delivers the others again.
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
            if change.needsNewParts { try await replace(for: new) }
            state.withLock { $0.loaded = new }
            threshold.set(new.configuration.log.level)
        }
    }

    /// The new consumers begin beside the old ones, whose deliveries they do not get.
    private func replace(for new: LoadedConfiguration) async throws(WorkerError) {
        try Self.requireWebhook(new.configuration)
        try await prepareQueues(new.configuration)
        let run = try WebhookRun(new.configuration, version: version, metrics: metrics, logger: logger)
        run.start()
        let old = state.withLock { state in
            defer { state.run = run }
            return state.run
        }
        logStart(new.configuration)
        _ = await old.stop()
    }

    private static func requireWebhook(_ configuration: Configuration) throws(WorkerError) {
        guard configuration.webhookEndpoints.isEmpty else { return }
        throw WorkerError(
            .configuration,
            "no app has a webhook: set url and secret in a section [app.webhook], and outcomes in its [[app]]; see "
                + "deploy/webhooks.md")
    }

    private func prepareQueues(_ configuration: Configuration) async throws(WorkerError) {
        try await configuration.prepareOutcomeQueues(logger) { (topology, broker) throws(ChangeQueueError) in
            try await topology.findMissingWebhooks(at: broker)
        }
    }

    private func logStart(_ configuration: Configuration) {
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

    // MARK: Health

    /// The answers about health and metrics.
    public var adminRoutes: AdminRoutes {
        AdminRoutes(
            liveness: { [self] in state.withLock { $0.run }.livenessChecks },
            readiness: { [self] in state.withLock { $0.run }.readinessChecks },
            metrics: { [metrics] in metrics.render($0) }, product: "apus", version: version)
    }
}
