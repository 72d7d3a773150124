import StructuredLogging
import TraceExport
import Tracing

extension TraceExportConfiguration {
    /// Makes the exporter of a worker, and says in the log where spans go.
    ///
    /// - Parameters:
    ///   - identifier: the name of this process among all workers.
    ///   - version: the version of the program.
    ///   - metrics: counts what becomes of the spans.
    ///   - logger: the log of the process.
    /// - Returns: the exporter, to be stopped at the end.
    /// - Throws: `WorkerError` if there is no thread for it.
    func exporter(
        identifier: String, version: String, metrics: TraceExportMetrics, logger: Logger
    ) throws(WorkerError) -> TraceExporter {
        // By the conventions for resources; attributes from the variables take precedence.
        let own = [
            SpanAttribute("service.name", "apus"), SpanAttribute("service.version", version),
            SpanAttribute("service.instance.id", identifier), SpanAttribute("telemetry.sdk.name", "apus"),
            SpanAttribute("telemetry.sdk.language", "swift"), SpanAttribute("telemetry.sdk.version", version),
        ]
        let named = Set(resource.map(\.key))
        let origin = TraceExportRequest.Origin(
            resource: own.filter { !named.contains($0.key) } + resource, scopeName: "apus", scopeVersion: version)
        do {
            let exporter = try TraceExporter(
                self, from: origin, userAgent: "apus/\(version)", metrics: metrics, logger: logger)
            logger.log(.info, "traces.exporting", [.field("endpoint", endpoint)])
            return exporter
        } catch {
            throw WorkerError(starting: error)
        }
    }
}
