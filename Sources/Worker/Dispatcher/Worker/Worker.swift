import APNsTransport
public import AdminServer
import ChangeQueue
import EventLoop
public import Metrics
public import Notifications
import PushCore
public import RegistryAPI

/// One worker process: all parts, built from the configuration and joined.
public final class Worker: Sendable {
    /// The reasons why the worker is not ready.
    public var health: PipelineHealth { dispatch.health }
    /// All metrics of the process.
    public let metrics: MetricsRegistry

    private let configuration: Configuration
    private let logger: Logger
    private let loop: EventLoop
    private let dispatch: Dispatch
    private let consumer: ChangeConsumer
    private let publisher: ConfirmedPublisher
    private let transport: APNsClient
    private let courier: CourierTransport
    private let registryReads: [RegistryClient]
    private let registryWrites: RegistryClient
    private let keys: WorkerKeys

    /// Builds the parts; the worker sends and consumes nothing before `start`.
    ///
    /// - Parameters:
    ///   - configuration: checked before.
    ///   - logger: where events of interest go.
    ///   - metrics: where the parts register their counters.
    /// - Throws: `WorkerError` if a key, the registry or a thread cannot be had.
    public init(configuration: Configuration, logger: Logger, metrics: MetricsRegistry) throws(WorkerError) {
        self.configuration = configuration
        self.logger = logger
        self.metrics = metrics
        do {
            let broker = try configuration.broker(purpose: "worker")
            loop = try EventLoop(name: "dispatch")
            consumer = try ChangeConsumer(configuration: broker, logger: logger, metrics: metrics)
            publisher = try ConfirmedPublisher(configuration: broker, logger: logger, metrics: metrics)
            let client = try configuration.apnsClient()
            transport = try APNsClient(configuration: client, logger: logger, metrics: metrics)
            let registry = RegistryMetrics(metrics)
            registryReads = try configuration.lookUpClients(logger: logger, metrics: registry)
            registryWrites = try configuration.registryClient("registry-writes", logger: logger, metrics: registry)
            courier = CourierTransport(
                others: transport, apps: configuration.apps.map(\.name), firstRoute: client.routes.count,
                loop: registryWrites.loop, logger: logger,
                openRegistry: { () throws(RegistryError) in try configuration.registry.open(mode: .readWrite) })
            keys = try WorkerKeys(
                apps: configuration.apps, sources: client.routes.map(\.tokenSource), logger: logger)
            let parts = PipelineParts(
                source: consumer, publisher: publisher, transport: courier, registryReads: registryReads,
                registryWrites: registryWrites, now: { SystemClocks.now() })
            dispatch = Dispatch(
                loop: loop, configuration: configuration.pipeline, parts: parts, metrics: metrics, logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Declares the topology if the configuration says so, and begins to work.
    ///
    /// - Throws: `WorkerError` if the topology cannot be declared.
    public func start() async throws(WorkerError) {
        if configuration.worker.declaresTopology {
            do {
                _ = try await configuration.topology.apply(to: configuration.broker(purpose: "topology"))
            } catch {
                throw WorkerError(starting: error)
            }
        }
        dispatch.start()
        keys.watcher.start()
        if let broker = try? configuration.broker(purpose: "policies") {
            // Not waited for: work begins whether RabbitMQ's management API answers or not.
            Task { await configuration.topology.reportPolicies(of: broker, logger: logger, metrics: metrics) }
        }
        logger.log(
            .info, "worker.started",
            [
                .field("apps", configuration.apps.map(\.name).joined(separator: ",")),
                .field("queue", configuration.topology.names.work),
                .field("workQueues", configuration.rabbitMQ.workQueueCount),
                .field("prefetch", configuration.rabbitMQ.prefetch),
            ])
    }

    /// Reloads the signing keys under the names of a newer configuration; the rest of that configuration is ignored.
    ///
    /// - Parameter configuration: the new configuration, checked.
    public func reloadKeys(_ configuration: Configuration) {
        logger.log(.info, "worker.keys.reloaded", [.field("apps", configuration.apps.count)])
        keys.reload(configuration.apps)
    }

    /// The admin server's routes about this worker.
    ///
    /// - Parameters:
    ///   - version: the version of the program.
    ///   - registryServer: the registry's API, if this process serves it.
    /// - Returns: the routes, to be served for as long as the worker runs.
    public func adminRoutes(version: String, registryServer: RegistryServer?) -> AdminRoutes {
        AdminRoutes(
            liveness: { self.livenessChecks() + [registryServer].compactMap { $0?.livenessCheck } },
            readiness: {
                self.health.checks.map { HealthCheck($0.concern.rawValue, failure: $0.reason) }
                    + [registryServer].compactMap { $0.map { HealthCheck("registry-api", failure: $0.failure) } }
            },
            metrics: { self.metrics.render() }, product: "apus", version: version)
    }

    private func livenessChecks() -> [HealthCheck] {
        let loops =
            [
                ("dispatch", loop.nanosecondsSinceLastTick()), ("amqp-consume", consumer.nanosecondsSinceLastTick()),
                ("amqp-publish", publisher.nanosecondsSinceLastTick()),
                ("apns", transport.loop.nanosecondsSinceLastTick()),
                ("registry-writes", registryWrites.loop.nanosecondsSinceLastTick()),
            ] + registryReads.map { ($0.loop.name, $0.loop.nanosecondsSinceLastTick()) }
        return loops.map { HealthCheck(loop: $0, nanosecondsSinceLastTick: $1) }
    }

    /// Ends in order, and says in the log what became of all pushes.
    ///
    /// - Returns: whether everything that was begun was finished in time.
    public func drain() async -> Dispatch.DrainOutcome {
        logger.log(.info, "worker.draining", [.field("timeoutSeconds", configuration.worker.drainTimeout.seconds)])
        let outcome = await dispatch.drain(timeoutSeconds: configuration.worker.drainTimeout.seconds)
        keys.watcher.stop()
        if let ledgers = try? await dispatch.ledgers() { logLedgers(ledgers) }
        if outcome == .timedOut {
            logger.log(
                .warning, "worker.drain.timed-out",
                [.field("advice", "The broker delivers unfinished events again; raise drain_timeout if this recurs.")])
        }
        return outcome
    }

    private func logLedgers(_ ledgers: [PushCounts]) {
        let names = configuration.apps.map(\.name) + ["unknown"]
        for (name, ledger) in zip(names, ledgers) where ledger.matched > 0 || name != "unknown" {
            logger.log(
                .info, "ledger",
                [
                    .field("app", name), .field("matched", ledger.matched), .field("accepted", ledger.accepted),
                    .field("tokenDead", ledger.tokenDead), .field("expired", ledger.expired),
                    .field("coalesced", ledger.coalesced), .field("parkedForRetry", ledger.requeuedForRetry),
                    .field("parkedAsDeadLetter", ledger.deadLettered), .field("inFlight", ledger.inFlight),
                    .field("balanced", ledger.isBalanced),
                ])
        }
    }
}

extension HealthCheck {
    /// A loop that hangs for longer than this, in seconds, makes `/livez` fail; connecting to the broker may block its
    /// loop for less.
    private static let hangSecondsMaximum: UInt64 = 60

    /// Whether a loop turns.
    init(loop name: String, nanosecondsSinceLastTick nanoseconds: UInt64) {
        let seconds = nanoseconds / 1_000_000_000
        let isHanging = seconds >= Self.hangSecondsMaximum
        self.init("loop \(name)", failure: isHanging ? "has not turned for \(seconds) s" : nil)
    }
}

extension RegistryServer {
    /// Whether the loop of the registry's API turns.
    public var livenessCheck: HealthCheck {
        HealthCheck(loop: "registry-api", nanosecondsSinceLastTick: nanosecondsSinceLastTick())
    }
}
