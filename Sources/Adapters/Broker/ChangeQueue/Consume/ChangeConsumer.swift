public import ChangeEvents
public import EventLoop
public import Metrics
public import StructuredLogging

/// Consumes the work and fan-out queues, on a loop and a connection of its own.
///
/// Both queues are consumed on one channel, so one series of delivery numbers serves both. It reconnects forever.
/// Unacknowledged deliveries come again under a new epoch, and tags of the old epoch are ignored.
public final class ChangeConsumer: DeliverySource {
    private let loop: EventLoop
    private let core: LoopBound<ConsumerCore>

    /// Creates a consumer, which connects when it is started.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is.
    ///   - logger: logs the events of the connection.
    ///   - metrics: where to count.
    /// - Throws: `EventLoopError` if there is no thread.
    public init(
        configuration: BrokerConfiguration, logger: Logger, metrics: MetricsRegistry
    ) throws(EventLoopError) {
        let loop = try EventLoop(name: "amqp-consume")
        self.loop = loop
        core = LoopBound(
            ConsumerCore(configuration: configuration, loop: loop, logger: logger, metrics: metrics), to: loop)
    }

    /// How long ago the consumer's loop last turned, in nanoseconds; connecting may take it some seconds.
    public func nanosecondsSinceLastTick() -> UInt64 { loop.nanosecondsSinceLastTick() }

    /// Connects, and goes on connecting for as long as it takes; deliveries go to the handler.
    public func start(handler: any DeliveryHandler) {
        loop.submit { [core] in core.value.start(handler: handler) }
    }

    /// Acknowledges deliveries whose work has ended, in any order; tags of an earlier connection are ignored.
    public func settle(_ tags: [DeliveryTag]) {
        loop.submit { [core] in core.value.settle(tags) }
    }

    /// Rejects deliveries finally, so that their queues dead-letter them; tags of an earlier connection are ignored.
    public func reject(_ tags: [DeliveryTag]) {
        loop.submit { [core] in core.value.reject(tags) }
    }

    /// Cancels the consumers, so that the backlog stays at the broker; received deliveries can still be settled.
    public func pause() {
        loop.submit { [core] in core.value.pause() }
    }

    /// Consumes again, as soon as all received deliveries are settled.
    public func resume() {
        loop.submit { [core] in core.value.resume() }
    }

    /// Stops new deliveries; received ones can still be settled.
    ///
    /// Returns when the broker has agreed, or the connection is gone.
    public func cancel() async {
        await withCheckedContinuation { continuation in
            loop.submit { [core] in core.value.cancel { continuation.resume() } }
        }
    }

    /// Writes the last acknowledgements, closes the connection and ends the loop; the consumer cannot be used again.
    public func close() async {
        await withCheckedContinuation { continuation in
            loop.submit { [core] in core.value.close { continuation.resume() } }
        }
        loop.stopAndJoin()
    }
}

/// The metrics of deliveries.
struct ConsumerMetrics {
    private let receivedTotal: Counter
    private let acknowledgedTotal: Counter
    private let rejectedTotal: Counter
    private let redeliveredTotal: Counter
    private let unacknowledged: Gauge
    private let paused: Gauge

    init(_ registry: MetricsRegistry) {
        receivedTotal = registry.counter(
            "apus_deliveries_received_total", help: "Messages that RabbitMQ delivered.")
        acknowledgedTotal = registry.counter(
            "apus_deliveries_acknowledged_total", help: "Deliveries that were acknowledged.")
        rejectedTotal = registry.counter(
            "apus_deliveries_rejected_total",
            help: "Deliveries that RabbitMQ dead-letters, because it takes no copy.")
        redeliveredTotal = registry.counter(
            "apus_deliveries_redelivered_total",
            help: "Deliveries that may be repeated: the bound on duplicate pushes.")
        unacknowledged = registry.gauge(
            "apus_deliveries_unacknowledged", help: "Deliveries that this process holds unacknowledged.")
        paused = registry.gauge(
            "apus_consumer_paused",
            help: "1 while no push service can be reached or all apps are paused.")
    }

    func paused(_ isPaused: Bool) { paused.set(isPaused ? 1 : 0) }

    func received(_ count: Int, redeliveredCount: Int, unacknowledgedCount: Int) {
        receivedTotal.add(count)
        if redeliveredCount > 0 { redeliveredTotal.add(redeliveredCount) }
        unacknowledged.set(unacknowledgedCount)
    }

    func rejected(_ count: Int) { if count > 0 { rejectedTotal.add(count) } }

    func acknowledged(_ count: Int, unacknowledgedCount: Int) {
        if count > 0 { acknowledgedTotal.add(count) }
        unacknowledged.set(unacknowledgedCount)
    }
}
