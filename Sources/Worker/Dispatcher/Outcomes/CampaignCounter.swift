import ChangeEvents
import ChangeQueue
import EventLoop
import Metrics
import RegistryCore
import StructuredLogging
import Synchronization

/// The ports of a registry that counts campaigns.
typealias CountingRegistry = CampaignRegistry & SchemaRegistry

/// Consumes outcomes and has them counted; an outcome is acknowledged when the registry has it.
final class CampaignCounter: DeliveryHandler {
    private let loop: EventLoop
    private let core: LoopBound<CampaignCounterCore>
    private let source: OutcomeConsumer
    private let health = CampaignHealth()

    /// Builds the parts; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - source: where outcomes come from.
    ///   - loop: where the registry lives.
    ///   - registry: a connection that nothing else uses.
    ///   - retentionHours: how long counts are kept.
    ///   - metrics: where the instruments are registered.
    ///   - logger: where events of interest go.
    init(
        source: OutcomeConsumer, loop: EventLoop, registry: sending any CountingRegistry, retentionHours: Int64,
        metrics: MetricsRegistry, logger: Logger
    ) {
        self.source = source
        self.loop = loop
        core = LoopBound(
            CampaignCounterCore(
                registry: registry, loop: loop, retentionHours: retentionHours, health: health,
                metrics: CampaignMetrics(metrics), logger: logger
            ) { [source] tags in source.settle(tags) }, to: loop)
    }

    /// Begins to consume, and to forget what is too old.
    func start() {
        loop.submit { [core] in core.value.start() }
        source.start(handler: self)
    }

    /// Ends; outcomes that are not counted go back to their queue.
    func stop() async {
        await withCheckedContinuation { continuation in
            loop.submit { [core] in
                core.value.stop()
                continuation.resume()
            }
        }
        await source.close()
        loop.stopAndJoin()
    }

    /// Why nothing is consumed; nil if something is.
    var consumptionProblem: String? { health.consumption.withLock { $0 } }

    /// Why nothing is counted; nil if something is.
    var registryProblem: String? { health.registry.withLock { $0 } }

    /// How long the loop has not turned.
    func nanosecondsSinceLastTick() -> UInt64 { loop.nanosecondsSinceLastTick() }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        loop.submit { [core] in core.value.received(deliveries) }
    }

    func sourceStateChanged(_ state: DeliverySourceState) {
        health.consumption.withLock { $0 = state.problem }
        if case .consuming = state { loop.submit { [core] in core.value.connectionBegan() } }
    }
}

/// The problems that keep outcomes from being counted, for readiness.
final class CampaignHealth: Sendable {
    /// Why nothing is consumed.
    let consumption = Mutex<String?>("not connected yet")
    /// Why the registry takes nothing.
    let registry = Mutex<String?>(nil)
}

/// The instruments of the counter.
final class CampaignMetrics: Sendable {
    let counted: Counter
    let repeated: Counter
    let unreadable: Counter

    init(_ metrics: MetricsRegistry) {
        counted = metrics.counter(
            "apus_campaign_endings_counted_total",
            help: "Matches and ends of campaigns' pushes that were counted.")
        repeated = metrics.counter(
            "apus_campaign_endings_repeated_total",
            help: "Matches and ends told again, and not counted again.")
        unreadable = metrics.counter(
            "apus_campaign_messages_unreadable_total",
            help: "Messages that were no outcomes, and were dropped.")
    }
}
