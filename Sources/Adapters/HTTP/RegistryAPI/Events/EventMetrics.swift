import Metrics

/// The counts of events that came over HTTP.
struct EventMetrics {
    private let published: Counter
    private let refused: Counter
    private let failed: Counter
    private let skipped: Counter

    init(_ registry: MetricsRegistry) {
        func counter(_ outcome: String) -> Counter {
            registry.counter(
                "apus_registry_api_events_total",
                help: "Events of POST /v1/events that were answered, by outcome.",
                labels: [MetricsRegistry.Label("outcome", outcome)])
        }
        published = counter("published")
        refused = counter("refused")
        failed = counter("failed")
        skipped = counter("skipped")
    }

    /// The events of a request were answered.
    func ended(_ batch: EventBatch) {
        let counts = batch.counts
        published.add(counts.published)
        refused.add(counts.refused)
        failed.add(counts.failed)
        skipped.add(counts.skipped)
    }

    /// A request was refused as a whole.
    func ended(_ problem: NativeProblem) { (problem.isOfServer ? failed : refused).add() }
}
