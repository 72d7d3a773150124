import Metrics

/// What is counted of deliveries.
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
            help: "Deliveries that RabbitMQ was told to dead-letter, because it takes no copy of them.")
        redeliveredTotal = registry.counter(
            "apus_deliveries_redelivered_total", help: "Deliveries that may have been delivered before.")
        unacknowledged = registry.gauge(
            "apus_unacknowledged_deliveries", help: "Deliveries that this process holds unacknowledged.")
        paused = registry.gauge(
            "apus_consumer_paused",
            help: "1 while nothing is consumed because APNs cannot be reached; the backlog stands in RabbitMQ.")
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
