import Essentials
import EventLoop
import HTTPClient
import Metrics
import StructuredLogging
import Synchronization
import Tracing

/// The machine that the exporter's thread shares with every thread that ends spans.
final class SharedExportMachine: Sendable {
    let machine: Mutex<ExportMachine>

    init(_ limits: TraceExportLimits) { machine = Mutex(ExportMachine(limits)) }
}

/// The part of the exporter that lives on its loop: it carries out the steps of the machine.
final class TraceExporterCore {
    private let loop: EventLoop
    private let client: HTTPMultiClient
    private let configuration: TraceExportConfiguration
    private let origin: TraceExportRequest.Origin
    private let fields: [(name: String, value: String)]
    private let metrics: TraceExportMetrics
    private let logger: Logger
    private let shared: SharedExportMachine
    private var random = SystemRandomNumberGenerator()
    private var timer: EventLoop.Timer?
    private var isFailing = false
    /// To be called at the end; nil before the process ends, and after the call.
    private var stopped: (() -> Void)?
    /// Until when spans may be sent at the end.
    private var stopEnd: MonotonicTime?
    private var isEnded = false

    init(
        loop: EventLoop, client: HTTPMultiClient, shared: SharedExportMachine, configuration: TraceExportConfiguration,
        origin: TraceExportRequest.Origin, userAgent: String, metrics: TraceExportMetrics, logger: Logger
    ) {
        self.loop = loop
        self.client = client
        self.shared = shared
        self.configuration = configuration
        self.origin = origin
        self.metrics = metrics
        self.logger = logger
        let own = [("content-type", "application/x-protobuf"), ("user-agent", userAgent)]
        fields = own + configuration.fields
    }

    /// Asks the machine for its next step, and carries it out.
    func advance() {
        guard !isEnded else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
        let now = Self.now
        let (step, count) = shared.machine.withLock { machine in
            let step = machine.nextStep(at: now)
            metrics.waiting.set(machine.count)
            return (step, machine.count)
        }
        switch step {
        case .send(let spans): send(spans)
        case .wait(let time):
            // The collector is not to be asked before the process ends.
            if let stopEnd, time > stopEnd { return end() }
            timer = loop.schedule(afterNanoseconds: time.nanoseconds(since: now)) { [weak self] in
                self?.timer = nil
                self?.advance()
            }
        case .rest: if count == 0, stopped != nil { end() }
        }
    }

    private func send(_ spans: [Span]) {
        let request = PostRequest(
            to: configuration.destination, path: configuration.path, fields: fields,
            body: TraceExportRequest.encode(spans, from: origin),
            timeoutNanoseconds: configuration.attemptTimeoutNanoseconds)
        client.post(request) { [weak self] outcome in self?.attemptEnded(outcome) }
    }

    private func attemptEnded(_ outcome: PostOutcome) {
        guard !isEnded else { return }
        var retryAfterSeconds: Int?
        let answer: TraceExportAnswer
        switch outcome {
        case .answered(let response):
            answer = TraceExportAnswer(status: response.status, body: response.body)
            retryAfterSeconds = response.retryAfterSeconds(nowSeconds: WallClock.nowMilliseconds() / 1_000)
        case .notSent(let failure), .ambiguous(let failure):
            // A collector may get spans twice; their identifiers tell.
            let reason = failure.description.printable()
            answer = failure.kind == .requestInvalid ? .refused(reason: reason) : .retryable(reason: reason)
        }
        let ending = shared.machine.withLock { machine in
            machine.attemptEnded(answer, retryAfterSeconds: retryAfterSeconds, at: Self.now, using: &random)
        }
        metrics.exported.add(ending.exportedCount)
        metrics.countDropped(ending.lostCount, ending.loss)
        report(answer, ending)
        advance()
    }

    private func report(_ answer: TraceExportAnswer, _ ending: ExportMachine.Ending) {
        let endpoint = LogField.field("endpoint", configuration.endpoint)
        switch answer {
        case .taken(let rejectedCount, let reason):
            if isFailing { logger.log(.info, "traces.export.recovered", [endpoint]) }
            isFailing = false
            guard rejectedCount > 0 || !reason.isEmpty else { return }
            logger.log(
                .warning, "traces.export.rejected",
                [endpoint, .field("spans", ending.lostCount), .field("reason", reason)])
        case .refused(let reason):
            metrics.failedAttempts.add()
            logger.log(
                .warning, "traces.export.refused",
                [
                    endpoint, .field("spans", ending.lostCount), .field("reason", reason),
                    .field("advice", "Check the address, its path, and the headers for the collector."),
                ])
        case .retryable(let reason):
            metrics.failedAttempts.add()
            // Said once, until it works again.
            guard !isFailing else { return }
            isFailing = true
            logger.log(
                .warning, "traces.export.failed",
                [
                    endpoint, .field("reason", reason),
                    .field("advice", "Spans wait, and those that find no room are dropped; pushes go on."),
                ])
        }
    }

    /// Exports the waiting spans, for some time at most, and then calls back.
    func stop(withinNanoseconds nanoseconds: UInt64, stopped: @escaping () -> Void) {
        self.stopped = stopped
        let end = Self.now.advanced(byNanoseconds: nanoseconds)
        stopEnd = end
        shared.machine.withLock { $0.stopBegan(until: end) }
        loop.schedule(afterNanoseconds: nanoseconds) { [weak self] in self?.end() }
        advance()
    }

    private func end() {
        guard !isEnded else { return }
        isEnded = true
        let lostCount = shared.machine.withLock { machine in
            metrics.waiting.set(0)
            return machine.stopped()
        }
        metrics.countDropped(lostCount, .stopped)
        client.close()
        stopped?()
        stopped = nil
    }

    private static var now: MonotonicTime { MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds()) }
}
