import Essentials
internal import EventLoop
import HTTPClient
public import Metrics
public import StructuredLogging
internal import Synchronization
public import Tracing

/// Exports spans to a collector by OTLP over HTTP, on a thread of its own.
///
/// Nothing that hands spans in ever waits for the collector: `submit` takes a lock for the time that it takes to append
/// to an array, and drops what finds no room (`ExportMachine`). An exporter has to be stopped.
public final class TraceExporter: SpanSink {
    /// How long the end of the process may wait for the collector, in nanoseconds.
    public static let stopNanoseconds: UInt64 = 5_000_000_000

    private let shared: SharedExportMachine
    private let core: LoopBound<TraceExporterCore>
    private let metrics: TraceExportMetrics
    private let isStopping = Atomic(false)
    private let stopNanoseconds: UInt64

    /// Creates an exporter; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - configuration: where to, and the bounds.
    ///   - origin: the service whose spans they are.
    ///   - userAgent: the program and its version, as the collector may log them.
    ///   - metrics: counts what becomes of the spans.
    ///   - logger: hears when the collector begins to fail, and when it works again.
    ///   - stopNanoseconds: how long `stop` may wait for the collector.
    /// - Throws: `EventLoopError` or `HTTPClient.Failure` if there is no thread or no libcurl.
    public init(
        _ configuration: TraceExportConfiguration, from origin: TraceExportRequest.Origin, userAgent: String,
        metrics: TraceExportMetrics, logger: Logger, stopNanoseconds: UInt64 = TraceExporter.stopNanoseconds
    ) throws {
        let shared = SharedExportMachine(configuration.limits)
        self.shared = shared
        self.metrics = metrics
        self.stopNanoseconds = stopNanoseconds
        let loop = try EventLoop(name: "traces")
        do {
            var limits = HTTPMultiClient.Limits()
            limits.connectionsPerHostMaximum = 1
            limits.connectionsMaximum = 1
            let client = try HTTPMultiClient(loop: loop, limits: limits)
            let core = TraceExporterCore(
                loop: loop, client: client, shared: shared, configuration: configuration, origin: origin,
                userAgent: userAgent, metrics: metrics, logger: logger)
            self.core = LoopBound(core, to: loop)
        } catch {
            loop.stopAndJoin()
            throw error
        }
    }

    /// Takes spans that have ended; any thread may call it, and it never waits for the collector.
    public func submit(_ spans: [Span]) {
        let now = MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds())
        let (droppedCount, isNews) = shared.machine.withLock { machine in
            // Within the lock, so that an older count does not come last.
            defer { metrics.waiting.set(machine.count) }
            return machine.submitted(spans, at: now)
        }
        metrics.countDropped(droppedCount, isStopping.load(ordering: .relaxed) ? .stopped : .queueFull)
        if isNews { core.loop.submit { [core] in core.value.advance() } }
    }

    /// Exports the waiting spans within some seconds, as far as the collector takes them, and ends.
    ///
    /// A second call does nothing.
    public func stop() async {
        guard !isStopping.exchange(true, ordering: .relaxed) else { return }
        await withCheckedContinuation { continuation in
            core.loop.submit { [core, stopNanoseconds] in
                core.value.stop(withinNanoseconds: stopNanoseconds) { continuation.resume() }
            }
        }
        core.loop.stopAndJoin()
    }
}

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
