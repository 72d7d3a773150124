import APNsTransport
import AdminServer
import Backoffice
import ChangeQueue
import DispatchCore
import EventLoop
import Metrics
import Notifications
import RegistryCore
import StructuredLogging
import WorkerConfiguration

/// All parts of a worker, built from one configuration and joined.
///
/// A process has one worker at a time; a reload replaces it (`WorkerHost`).
final class Worker: Sendable {
    /// The reasons why the worker is not ready.
    var health: PipelineHealth { dispatch.health }

    /// The metrics of this worker, which end with it.
    private let metrics: MetricsRegistry

    private let configuration: Configuration
    private let logger: Logger
    private let loop: EventLoop
    private let dispatch: Dispatch
    private let consumer: ChangeConsumer
    private let publisher: ConfirmedPublisher
    private let push: PushClients
    private let registryReads: [RegistryClient]
    private let registryWrites: RegistryClient
    private let keyWatcher: ProviderKeyWatcher

    /// Builds the parts; the worker sends and consumes nothing before `start`.
    ///
    /// - Parameters:
    ///   - configuration: checked before.
    ///   - logger: where events of interest go.
    ///   - metrics: where the parts register their counters.
    ///   - tracing: where the spans of events go; nil for nowhere.
    /// - Throws: `WorkerError` if a key, the registry or a thread cannot be had.
    init(
        configuration: Configuration, logger: Logger, metrics: MetricsRegistry, tracing: PipelineTracing? = nil
    ) throws(WorkerError) {
        self.configuration = configuration
        self.logger = logger
        let metrics = metrics.makePart()
        self.metrics = metrics
        do {
            // Steps that fail with a wrong configuration come first, so that a refused reload leaves no thread behind.
            let broker = try configuration.broker(purpose: "worker")
            let apns = try configuration.apnsClient()
            try configuration.requireServiceAccounts()
            let webPush = try configuration.webPushClient()
            var pipeline = configuration.pipeline
            pipeline.receipts = try configuration.receiptAuthentication()
            let registry = RegistryMetrics(metrics)
            registryReads = try configuration.lookUpClients(logger: logger, metrics: registry)
            do {
                registryWrites = try configuration.registryClient("registry-writes", logger: logger, metrics: registry)
            } catch {
                for client in registryReads { client.close() }
                throw error
            }
            loop = try EventLoop(name: "dispatch")
            consumer = try ChangeConsumer(configuration: broker, logger: logger, metrics: metrics)
            publisher = try ConfirmedPublisher(configuration: broker, logger: logger, metrics: metrics)
            let courier = CourierTransport(
                apps: configuration.apps.map(\.name), loop: registryWrites.loop, logger: logger,
                openRegistry: { () throws(RegistryError) in try configuration.registry.open(mode: .readWrite) })
            push = try PushClients(
                configuration, apns: apns, webPush: webPush, courier: courier, logger: logger, metrics: metrics)
            keyWatcher = try ProviderKeyWatcher(apps: configuration.apps, routes: push.apnsRoutes, logger: logger)
            let parts = PipelineParts(
                source: consumer, publisher: publisher, transport: push.transport, registryReads: registryReads,
                registryWrites: registryWrites, tracing: tracing, now: { SystemClocks.now() })
            dispatch = Dispatch(
                loop: loop, configuration: pipeline, parts: parts, metrics: metrics, logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// Declares the topology if the configuration says so, and begins to work.
    ///
    /// - Throws: `WorkerError` if the topology cannot be declared.
    func start() async throws(WorkerError) {
        if configuration.worker.declaresTopology {
            do {
                _ = try await configuration.topology.apply(to: configuration.broker(purpose: "topology"))
            } catch {
                throw WorkerError(starting: error)
            }
        }
        dispatch.start()
        keyWatcher.start()
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

    /// Makes the reports about this worker; they begin when the reporter is started.
    ///
    /// - Parameters:
    ///   - identifier: the name of this process among all that use the registry.
    ///   - version: the version of the program.
    /// - Returns: the reporter, to be stopped when the worker has been drained, and before it ends.
    func reporter(identifier: String, version: String) -> WorkerReporter {
        let store = WorkerReporter.Store(
            save: { [registryWrites] in try await registryWrites.save($0) },
            remove: { [registryWrites] in try await registryWrites.removeReport(of: $0) })
        return WorkerReporter(
            kind: .worker, identifier: identifier, version: version, store: store, logger: logger
        ) { [dispatch, push, routes = configuration.pipeline.routes] status in
            let pipeline = try await dispatch.status()
            status.apps = pipeline.apps
            for (app, service, openCount, streamCount) in push.connections {
                guard let index = routes.firstIndex(where: { $0.name == app && $0.service == service }) else {
                    continue
                }
                status.apps[index].openConnections += openCount
                status.apps[index].openStreams += streamCount
            }
            status.unsettledDeliveries = pipeline.unsettledDeliveries
            status.lagBoundsSeconds = pipeline.lagBoundsSeconds
            let checks = dispatch.health.checks
            status.checks = checks.map { concern, reason in
                WorkerStatus.Check(name: concern.rawValue, failure: reason, onlyDegrades: concern.onlyDegrades)
            }
            status.isConsumerPaused = pipeline.isConsumptionStopped
            return pipeline.lagCounts
        }
    }

    /// Whether the event loops turn.
    var livenessChecks: [HealthCheck] {
        let loops =
            [
                ("dispatch", loop.nanosecondsSinceLastTick()), ("amqp-consume", consumer.nanosecondsSinceLastTick()),
                ("amqp-publish", publisher.nanosecondsSinceLastTick()),
                ("registry-writes", registryWrites.loop.nanosecondsSinceLastTick()),
            ] + (push.loops + registryReads.map(\.loop)).map { ($0.name, $0.nanosecondsSinceLastTick()) }
        return loops.map { HealthCheck(loop: $0, nanosecondsSinceLastTick: $1) }
    }

    /// Ends in order, and says in the log what became of all pushes.
    ///
    /// - Returns: whether everything that was begun was finished in time.
    func drain() async -> Dispatch.DrainOutcome {
        logger.log(.info, "worker.draining", [.field("timeoutSeconds", configuration.worker.drainTimeout.seconds)])
        let outcome = await dispatch.drain(timeoutSeconds: configuration.worker.drainTimeout.seconds)
        keyWatcher.stop()
        if let pushCounts = try? await dispatch.pushCounts() { logPushCounts(pushCounts) }
        if outcome == .timedOut {
            logger.log(
                .warning, "worker.drain.timed-out",
                [.field("advice", "The broker delivers unfinished events again; raise drain_timeout if this recurs.")])
        }
        return outcome
    }

    /// Ends the loops and releases everything, after a drain.
    func end() {
        dispatch.end()
        for client in registryReads + [registryWrites] { client.close() }
        push.end()
        metrics.end()
    }

    private func logPushCounts(_ pushCounts: [PushCounts]) {
        let routes = configuration.pipeline.routes.map { ($0.name, $0.service.rawValue) } + [("unknown", "unknown")]
        for ((name, service), ledger) in zip(routes, pushCounts) where ledger.matched > 0 || name != "unknown" {
            logger.log(
                .info, "ledger",
                [
                    .field("app", name), .field("service", service), .field("matched", ledger.matched),
                    .field("accepted", ledger.accepted),
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
