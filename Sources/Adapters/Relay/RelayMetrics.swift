import Essentials
import EventLoop
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
        func check(_ name: String, _ problem: @escaping @Sendable (RelayHealth) -> String?) {
            registry.gauge(
                "apus_readiness_check_failing", help: "1 while this check of /readyz fails.",
                labels: [MetricsRegistry.Label("check", name)]
            ) { board.health.withLock { problem($0) } == nil ? 0 : 1 }
        }
        check("outbox") { $0.outboxProblem }
        check("broker") { $0.brokerProblem }
        registry.gauge(
            "apus_relay_lag_seconds", help: "How long ago the oldest row in the outbox was written; 0 if there is none."
        ) {
            let oldest = board.health.withLock { $0.oldestWrittenMillisecondsOfAll }
            return oldest.map { Double(max(0, WallClock.nowMilliseconds() - $0)) / 1_000 } ?? 0
        }
    }

    func ended(published publishedCount: Int, refused refusedCount: Int) {
        published.add(publishedCount)
        refused.add(refusedCount)
    }
}
