public import Metrics
import PushCore

/// The instruments of the index of subscriptions to records.
public final class RegistryMetrics: Sendable {
    let matchedSlowly: Counter
    private let subscriptions: Gauge
    private let predicates: Gauge
    private let indexBytes: Gauge

    /// Makes the instruments, so that each shows as 0 before its first event.
    public init(_ registry: MetricsRegistry) {
        subscriptions = registry.gauge(
            "apus_subscriptions", help: "Subscriptions to records that this worker knows.")
        predicates = registry.gauge(
            "apus_subscription_predicates", help: "Different predicates among them.")
        indexBytes = registry.gauge(
            "apus_subscription_index_bytes", help: "Memory that the index of subscriptions takes.")
        matchedSlowly = registry.counter(
            "apus_events_matched_slowly_total",
            help: "Changes of records that many subscriptions had to be looked at for, one by one.")
    }

    func indexChanged(_ size: SubscriptionIndexSize) {
        subscriptions.set(size.subscriptionCount)
        predicates.set(size.distinctPredicateCount)
        indexBytes.set(size.memoryBytes)
    }
}
