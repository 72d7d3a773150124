public import EventLoop
public import Metrics
public import Notifications
public import PushCore

/// Publishes with confirms, on a loop and a connection of its own.
///
/// Its own connection, because the broker stops reading from a connection that publishes when it runs out of memory or
/// disk, and acknowledgements behind a publish would stand still with it.
///
/// A message counts as requeued only when the broker has confirmed it and no return came before. Each publish carries
/// its number in the property `cluster-id`, which the broker hands back untouched, so that a return is never taken for
/// that of another message with the same route. What is unconfirmed when a connection ends is published again on the
/// next.
///
/// Some of what a consumed message carries must not be published again as it is: the broker closes the channel over a
/// `user-id` that is not ours, routes once more by `CC` and `BCC`, and counts cycles in `x-death`. Those are left out.
public final class ConfirmedPublisher: MessagePublisher {
    private let loop: EventLoop
    private let core: LoopBound<PublisherCore>

    /// Creates a publisher, which connects when it is started.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is.
    ///   - logger: where to say what happens to the connection.
    ///   - metrics: where to count.
    /// - Throws: `EventLoopError` if there is no thread.
    public init(
        configuration: BrokerConfiguration, logger: Logger, metrics: MetricsRegistry
    ) throws(EventLoopError) {
        let loop = try EventLoop(name: "amqp-publish")
        self.loop = loop
        core = LoopBound(
            PublisherCore(configuration: configuration, loop: loop, logger: logger, metrics: metrics), to: loop)
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

    /// Waits for the outcomes of what was published, up to a deadline, closes the connection and ends the loop.
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

/// What is counted of publishes.
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
            "apus_amqp_blocked", help: "Whether RabbitMQ takes no publishes because it is short of memory or disk.")
        confirmSeconds = registry.histogram(
            "apus_publish_confirm_seconds", help: "Time from a publish to its confirm.",
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
