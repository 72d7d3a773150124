public import ChangeEvents
public import EventLoop
public import Metrics
public import StructuredLogging

/// Publishes with confirms, on a loop and a connection of its own.
///
/// It has its own connection. The broker stops reading from a publishing connection when memory or disk run out, and
/// acknowledgements on it would wait as well.
///
/// A message counts as requeued only when the broker has confirmed it and no return came before. Each publish carries
/// its number in the property `cluster-id`, which the broker returns unchanged. So a return always finds its publish.
/// Unconfirmed messages of an ended connection are published again on the next.
///
/// Some properties of a consumed message must not be published again: the broker closes the channel over a `user-id`
/// that is not ours, routes once more by `CC` and `BCC`, and counts cycles in `x-death`. They are left out.
public final class ConfirmedPublisher: MessagePublisher {
    private let loop: EventLoop
    private let core: LoopBound<PublisherCore>

    /// Creates a publisher, which connects when it is started.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is.
    ///   - connection: the name of the connection in metrics.
    ///   - logger: logs the events of the connection.
    ///   - metrics: where to count.
    /// - Throws: `EventLoopError` if there is no thread.
    public init(
        configuration: BrokerConfiguration, connection: String = "publish", logger: Logger, metrics: MetricsRegistry
    ) throws(EventLoopError) {
        let loop = try EventLoop(name: "amqp-publish")
        self.loop = loop
        core = LoopBound(
            PublisherCore(
                configuration: configuration, connection: connection, loop: loop, logger: logger, metrics: metrics),
            to: loop)
    }

    /// How long ago the publisher's loop last turned, in nanoseconds; connecting may take it some seconds.
    public func nanosecondsSinceLastTick() -> UInt64 { loop.nanosecondsSinceLastTick() }

    /// Connects, and goes on connecting for as long as it takes; outcomes go to the handler.
    public func start(handler: any PublishHandler) {
        loop.submit { [core] in core.value.start(handler: handler) }
    }

    /// Publishes in order, as persistent and mandatory; each message gets exactly one outcome.
    public func publish(_ messages: [OutgoingMessage]) {
        loop.submit { [core] in core.value.publish(messages) }
    }

    /// Waits for the outcomes of all publishes, up to a deadline, closes the connection and ends the loop.
    ///
    /// - Returns: whether every message had its outcome.
    public func close(deadlineSeconds: Double) async -> Bool {
        let isComplete = await withCheckedContinuation { continuation in
            loop.submit { [core] in
                core.value.close(deadlineSeconds: deadlineSeconds) { continuation.resume(returning: $0) }
            }
        }
        loop.stopAndJoin()
        return isComplete
    }
}

/// The metrics of publishes.
struct PublisherMetrics {
    private let confirmedTotal: Counter
    private let returnedTotal: Counter
    private let refusedTotal: Counter
    private let rejectedTotal: Counter
    private let isBlocked: Gauge
    private let confirmSeconds: Histogram

    init(_ registry: MetricsRegistry) {
        func counter(_ outcome: String) -> Counter {
            registry.counter(
                "apus_publishes_total", help: "Publishes that ended, by outcome.",
                labels: [MetricsRegistry.Label("outcome", outcome)])
        }
        confirmedTotal = counter("confirmed")
        returnedTotal = counter("returned")
        refusedTotal = counter("refused")
        rejectedTotal = counter("rejected")
        isBlocked = registry.gauge(
            "apus_amqp_blocked", help: "1 while RabbitMQ is short of memory or disk and takes no publishes.")
        confirmSeconds = registry.histogram(
            "apus_publish_confirm_duration_seconds", help: "From a publish to RabbitMQ's confirm.",
            boundsSeconds: Histogram.requestBoundsSeconds)
    }

    func blocked(_ blocked: Bool) { isBlocked.set(blocked ? 1 : 0) }

    func confirmed(afterNanoseconds nanoseconds: UInt64) { confirmSeconds.observe(nanoseconds: nanoseconds) }

    func ended(_ outcome: PublishOutcome) {
        switch outcome {
        case .confirmed: confirmedTotal.add()
        case .returned: returnedTotal.add()
        case .refused: refusedTotal.add()
        case .rejected: rejectedTotal.add()
        }
    }
}
