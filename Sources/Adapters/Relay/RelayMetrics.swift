import Metrics
import Synchronization

/// The instruments of a relay.
struct RelayMetrics {
    private let published: Counter
    private let refused: Counter

    init(_ registry: MetricsRegistry, _ board: RelayBoard) {
        func counter(_ outcome: String) -> Counter {
            registry.counter(
                "apus_relay_rows_total", help: "Rows that left the outbox, by outcome.",
                labels: [MetricsRegistry.Label("outcome", outcome)])
        }
        published = counter("published")
        refused = counter("refused")
        registry.gauge(
            "apus_relay_lag_seconds", help: "How long ago the oldest row was written that was taken last; 0 if none."
        ) { Double(board.health.withLock { $0.lagMilliseconds }) / 1_000 }
    }

    func ended(published publishedCount: Int, refused refusedCount: Int) {
        published.add(publishedCount)
        refused.add(refusedCount)
    }
}
