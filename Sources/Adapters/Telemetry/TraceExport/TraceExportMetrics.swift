public import Metrics

/// The instruments of the exporter of traces; made at start, so that each shows as 0 before its first span.
public struct TraceExportMetrics: Sendable {
    let exported: Counter
    let failedAttempts: Counter
    let waiting: Gauge
    private let dropped: [ExportMachine.Loss: Counter]

    /// Registers the instruments.
    ///
    /// - Parameter registry: that of the process, because an exporter lives as long as its process.
    public init(_ registry: MetricsRegistry) {
        exported = registry.counter("apus_trace_spans_exported_total", help: "Spans that the collector took.")
        dropped = Dictionary(
            uniqueKeysWithValues: ExportMachine.Loss.allCases.map { loss in
                let counter = registry.counter(
                    "apus_trace_spans_dropped_total", help: "Spans that were not exported, by reason.",
                    labels: [.init("reason", loss.rawValue)])
                return (loss, counter)
            })
        failedAttempts = registry.counter(
            "apus_trace_export_failures_total",
            help: "Requests that the collector did not take.")
        waiting = registry.gauge("apus_trace_spans_waiting", help: "Spans that wait to be exported.")
    }

    func countDropped(_ count: Int, _ loss: ExportMachine.Loss) {
        if count > 0 { dropped[loss]?.add(count) }
    }
}
