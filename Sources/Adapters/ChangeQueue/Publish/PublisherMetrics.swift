import Metrics
import PushCore

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
