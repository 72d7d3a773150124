import Metrics

/// The instruments of large fan-outs.
final class FanOutMetrics {
    let planned: Counter
    let found: Counter
    let planning: Gauge
    let chunksPlanned: Counter
    let chunksServed: Counter
    let chunksCancelled: Counter
    let chunksRepeated: Counter
    let chunksRejected: Counter
    let chunksDelayed: Counter

    init(_ registry: MetricsRegistry) {
        planned = registry.counter(
            "apus_fanouts_planned_total", help: "Large fan-outs whose chunks this worker has planned to the end.")
        found = registry.counter(
            "apus_fanouts_found_total",
            help: "Events whose large fan-out was planned or cancelled before they were delivered (again).")
        planning = registry.gauge("apus_fanouts_planning", help: "Large fan-outs that this worker is planning.")
        func chunks(_ result: String) -> Counter {
            registry.counter(
                "apus_fanout_chunks_total",
                help: "Chunks of large fan-outs: planned, or ended by this worker in the way that the label says.",
                labels: [.init("result", result)])
        }
        chunksPlanned = chunks("planned")
        chunksServed = chunks("served")
        chunksCancelled = chunks("cancelled")
        chunksRepeated = chunks("repeated")
        chunksRejected = chunks("rejected")
        chunksDelayed = chunks("delayed")
    }
}
