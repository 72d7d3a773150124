public import ChangeEvents
import DispatchCore
public import Essentials
import EventLoop
import Metrics
public import Notifications
import RegistryCore
import StructuredLogging
public import Tracing

/// Executes the decisions of a `PipelineMachine`: it brings events and time to the machine, and its actions to the
/// adapters.
///
/// It lives on one loop. The adapters hand it batches from their own threads (`PipelineInbox`). At the end of each tick
/// the machine works off everything that came in, so that events that wait together are looked up together.
final class Pipeline {
    let loop: EventLoop
    private(set) var parts: PipelineParts
    let metrics: PipelineMetrics
    let health: PipelineHealth
    let logger: Logger
    let decoder: EventDecoder

    var machine: PipelineMachine
    /// The lists that the machine fills in the next tick, while those of this tick are carried out.
    var actions = PipelineActions()
    /// Brings the answers of other loops here.
    var inbox: PipelineInbox?
    /// How many requests each client for look-ups has not answered.
    private var unansweredLookUps: [Int]
    /// The client that each unanswered look-up was sent to.
    private var clientOfLookUp: [UInt64: Int] = [:]
    private var isTickScheduled = false
    private var timer: (due: MonotonicTime, handle: EventLoop.Timer)?
    /// Whether the log has told that a publisher sends headers of Apus.
    var hasReportedIgnoredHeaders = false
    /// The apps whose keys are refused, and whether every key is, as readiness says.
    var reportedRefusals: (apps: [Int], isEveryKey: Bool) = ([], false)
    private var isClosing = false
    private var whenDrained: (() -> Void)?

    init(
        loop: EventLoop, configuration: PipelineConfiguration, parts: PipelineParts, metrics: MetricsRegistry,
        health: PipelineHealth, logger: Logger
    ) {
        self.loop = loop
        self.parts = parts
        self.metrics = PipelineMetrics(registry: metrics, routes: configuration.routes)
        self.health = health
        self.logger = logger
        decoder = EventDecoder(sources: configuration.sources)
        unansweredLookUps = Array(repeating: 0, count: parts.registryReads.count)
        machine = PipelineMachine(configuration: configuration, planner: Int64.random(in: 1 ... .max))
        machine.spans = parts.tracing.map {
            DeliverySpans(sampler: $0.sampler, seed: UInt64.random(in: 0 ... .max))
        }
    }

    /// Begins with the subscriptions to records; the source is started when all of them have been read.
    func start(inbox: PipelineInbox) {
        self.inbox = inbox
        scheduleTick()
    }

    // MARK: Reports of the adapters

    func deliveriesReceived(_ deliveries: [Delivery]) {
        machine.deliveriesReceived(deliveries, at: parts.now())
        scheduleTick()
    }

    func sourceStateChanged(_ state: DeliverySourceState) {
        machine.sourceStateChanged(state, at: parts.now())
        health.sourceStateChanged(state)
        scheduleTick()
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        machine.publishesEnded(outcomes, at: parts.now())
        if outcomes.contains(where: { $0.outcome == .confirmed }) { health.set(.requeuing, nil) }
        scheduleTick()
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        health.set(.publisher, isReady ? nil : "cannot publish: \(reason)")
    }

    func publisherBlocked(_ isBlocked: Bool) {
        machine.publisherBlocked(isBlocked, at: parts.now())
        scheduleTick()
    }

    func pushesEnded(_ results: [AttemptResult]) {
        let now = parts.now()
        machine.pushesEnded(results, at: now) { [metrics] result, app, apnsID, trace in
            metrics.observe(result, apnsID, app: app, in: trace, at: now.wall)
        }
        scheduleTick()
    }

    func routesChanged(_ changes: [RouteChange]) {
        machine.routesChanged(changes)
        scheduleTick()
    }

    func registryAnswered(_ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>) {
        if let client = clientOfLookUp.removeValue(forKey: number) { unansweredLookUps[client] -= 1 }
        machine.registryAnswered(number, result, at: parts.now())
        scheduleTick()
    }

    // MARK: A tick

    private func scheduleTick() {
        guard !isTickScheduled else { return }
        isTickScheduled = true
        loop.atEndOfTick { [self] in tick() }
    }

    private func tick() {
        isTickScheduled = false
        // Reports that come before all parts have started wait for the start.
        guard inbox != nil else { return }
        let now = parts.now()
        machine.tick(at: now)
        perform(at: now.wall)
        if let tracing = parts.tracing, case let spans = machine.takeSpans(), !spans.isEmpty {
            tracing.sink.submit(spans)
        }
        wake(at: machine.nextTick, now: now.monotonic)
        if machine.isDrained {
            whenDrained?()
            whenDrained = nil
        }
    }

    /// Sees to it that the machine gets its next tick in time; a timer that is earlier does no harm.
    private func wake(at due: MonotonicTime?, now: MonotonicTime) {
        guard let due else { return }
        if let timer {
            guard due < timer.due else { return }
            loop.cancel(timer.handle)
        }
        let handle = loop.schedule(afterNanoseconds: due.nanoseconds(since: now)) { [self] in
            timer = nil
            scheduleTick()
        }
        timer = (due, handle)
    }

    /// Sends the machine's requests to the registry.
    func ask(_ requests: [PipelineActions.Request]) {
        guard let inbox else { preconditionFailure("nothing is asked before the start") }
        for entry in requests {
            let client = entry.request.isWrite ? parts.registryWrites : lookUpClient(for: entry)
            client.ask(entry.request) { [number = entry.number] result in inbox.registryAnswered(number, result) }
        }
    }

    /// The client with the fewest unanswered look-ups; the first one for what needs the index of subscriptions.
    private func lookUpClient(for entry: PipelineActions.Request) -> RegistryClient {
        var index = 0
        if !entry.request.needsSubscriptions {
            for other in unansweredLookUps.indices where unansweredLookUps[other] < unansweredLookUps[index] {
                index = other
            }
        }
        unansweredLookUps[index] += 1
        clientOfLookUp[entry.number] = index
        return parts.registryReads[index]
    }

    /// All subscriptions to records have been read, so that no event misses their devices.
    func startSource() {
        guard let inbox, !isClosing else { return }
        parts.source.start(handler: inbox)
    }

    // MARK: The end

    /// Does not start the source any more, if it has not been started.
    func close() { isClosing = true }

    /// Asks and sends nothing more, so that the transport, the inbox and the pipeline release each other.
    func end() {
        inbox = nil
        parts.transport = EndedTransport()
    }

    /// Begins nothing new, and calls back when everything that was begun has been settled.
    func drain(whenDrained: @escaping () -> Void) {
        health.set(.draining, "draining")
        machine.drain(at: parts.now())
        self.whenDrained = whenDrained
        scheduleTick()
    }
}

/// Stands for the transport of a pipeline that has ended.
private final class EndedTransport: PushTransport {
    func start(handler: any PushTransportHandler) {}
    func send(_ requests: [PushRequest]) { assertionFailure("a pipeline that has ended sends nothing") }
    func close() async {}
}

/// Brings the adapters' reports from their threads to the pipeline's loop: one submission for each batch.
final class PipelineInbox: DeliveryHandler, PublishHandler, PushTransportHandler {
    private let pipeline: LoopBound<Pipeline>

    init(_ pipeline: LoopBound<Pipeline>) { self.pipeline = pipeline }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.deliveriesReceived(deliveries) }
    }

    func sourceStateChanged(_ state: DeliverySourceState) {
        pipeline.loop.submit { [pipeline] in pipeline.value.sourceStateChanged(state) }
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.publishesEnded(outcomes) }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        pipeline.loop.submit { [pipeline] in pipeline.value.publisherStateChanged(isReady: isReady, reason: reason) }
    }

    func publisherBlocked(_ isBlocked: Bool) {
        pipeline.loop.submit { [pipeline] in pipeline.value.publisherBlocked(isBlocked) }
    }

    func registryAnswered(_ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>) {
        pipeline.loop.submit { [pipeline] in pipeline.value.registryAnswered(number, result) }
    }

    func routesChanged(_ changes: [RouteChange]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.routesChanged(changes) }
    }

    func pushesEnded(_ results: [AttemptResult]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.pushesEnded(results) }
    }
}

/// Which events have spans, and who takes these.
public struct PipelineTracing: Sendable {
    /// Decides which events are recorded.
    public var sampler: Sampler
    /// Takes the spans.
    public var sink: any SpanSink

    /// Joins the two.
    public init(sampler: Sampler, sink: any SpanSink) {
        self.sampler = sampler
        self.sink = sink
    }
}

/// The adapters that a pipeline works with.
public struct PipelineParts {
    /// Where deliveries come from.
    public var source: any DeliverySource
    /// Where requeued messages go.
    public var publisher: any MessagePublisher
    /// The transport that sends pushes.
    public var transport: any PushTransport
    /// The clients that look devices up, each on a loop of its own; one at least.
    ///
    /// The first one also keeps the index of subscriptions.
    public var registryReads: [RegistryClient]
    /// Writes to the same store, on a loop of its own: large fan-outs and dead tokens.
    public var registryWrites: RegistryClient
    /// Where the spans of events go; nil if none are made.
    public var tracing: PipelineTracing?
    /// Reads both clocks.
    public var now: () -> Moment

    /// Gathers the parts.
    public init(
        source: any DeliverySource, publisher: any MessagePublisher, transport: any PushTransport,
        registryReads: [RegistryClient], registryWrites: RegistryClient, tracing: PipelineTracing? = nil,
        now: @escaping () -> Moment
    ) {
        self.tracing = tracing
        precondition(!registryReads.isEmpty, "a pipeline needs a client for look-ups")
        self.source = source
        self.publisher = publisher
        self.transport = transport
        self.registryReads = registryReads
        self.registryWrites = registryWrites
        self.now = now
    }
}
