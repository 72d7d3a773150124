import Essentials
import EventLoop
import Metrics
import Notifications
import PushCore

/// The way of an event through the worker: decode, resolve, render, send, park, settle.
///
/// It lives on one loop. The adapters hand it batches from their own threads (`PipelineInbox`); at the end of each tick
/// it works off everything that came in, so that events that wait together are looked up together and coalesce. All
/// decisions are `DispatchStateMachine`'s.
///
/// Memory is bounded by the prefetch: no more deliveries are held than the broker gives out, and no page of devices is
/// looked up while pushes wait for a free place.
final class Pipeline {
    /// The most deliveries that are looked up together.
    static let batchMaximum = 500
    /// When a batch finds more devices than this, the next one is smaller: so the memory for devices that wait to be
    /// sent to is bounded, however large the audiences are.
    static let devicesPerBatchWanted = 4_096
    /// How long after one look at apps that may be slow the next one is taken, if nothing happens meanwhile.
    static let loadLookDelayNanoseconds: UInt64 = 250_000_000
    /// How long large audiences are served page by page after the registry could not keep a fan-out.
    static let fanOutPauseMilliseconds: UInt64 = 60_000

    let loop: EventLoop
    let parts: PipelineParts
    let metrics: PipelineMetrics
    let health: PipelineHealth
    let logger: Logger
    let limits: DispatchLimits
    let repeatDelayNanoseconds: UInt64

    var machine: DispatchStateMachine
    var renderer: ContentRenderer
    let decoder = EventDecoder()
    let follower: SubscriptionFollower
    /// Events that may have claimed subscriptions, and have not begun their job: the batch waits for the registry.
    var claiming: Set<EventDigest> = []
    var recent = RecentChanges()
    var recorded = RecordedDatasets()
    var waiting = DeliveryQueue()
    /// Of the bulk lane: looked at when nothing of the other can be taken in.
    var waitingFanOuts = FanOutLine()
    var turns = DatasetTurns()
    var actions = DispatchActions()
    /// Who this worker is among those that plan fan-outs.
    let plannerIdentifier = Int64.random(in: 1 ... .max)
    /// The fan-outs that this worker plans, by a number of its own.
    var plans: [UInt64: FanOutPlan] = [:]
    var lastPlan: UInt64 = 0
    /// Until when the registry is taken to be unable to keep fan-outs.
    var fanOutsUnavailableUntil = MonotonicTime(nanoseconds: 0)
    /// The chunks that this worker serves.
    var chunks: [DeliveryTag: ChunkProgress] = [:]
    var lastChunkPlace: UInt64 = 0
    /// The chunks that have ended and whose end is not written down yet.
    var chunksToRecord: [(tag: DeliveryTag, ending: FanOutChunkEnding)] = []
    var chunkRetry: EventLoop.Timer?
    /// Flows of large fan-outs whose pushes APNs has not answered for some time.
    var hangingFlows: Set<String> = []
    var isFanOutLookScheduled = false
    /// Whether an answer is awaited to chunks that are written down.
    var isRecordingChunks = false
    /// What brings answers of other loops here.
    var inbox: PipelineInbox?
    /// What waits for an answer of the registry of fan-outs.
    var fanOutCalls: [UInt64: (Result<FanOutCall.Answer, RegistryError>) -> Void] = [:]
    var lastFanOutCall: UInt64 = 0
    var registryRetry: EventLoop.Timer?
    var batchSize = Pipeline.batchMaximum
    var isFlushScheduled = false
    var isDraining = false
    var isPaused = false
    var isLoadLookScheduled = false
    /// Whether the log has told that a publisher sends headers of Apus.
    var hasReportedIgnoredHeaders = false
    private var isPacedFlushScheduled = false
    var isReadingStopped = false
    var whenDrained: (() -> Void)?

    init(
        loop: EventLoop, configuration: PipelineConfiguration, parts: PipelineParts, metrics: MetricsRegistry,
        health: PipelineHealth, logger: Logger
    ) {
        self.loop = loop
        self.parts = parts
        self.metrics = PipelineMetrics(registry: metrics, appNames: configuration.apps.map(\.route.name))
        self.health = health
        self.logger = logger
        limits = configuration.limits
        repeatDelayNanoseconds = configuration.repeatDelayNanoseconds
        machine = DispatchStateMachine(
            appCount: configuration.apps.count, policy: configuration.retryPolicy, queues: configuration.queues,
            limits: configuration.limits)
        renderer = ContentRenderer(apps: configuration.apps)
        follower = SubscriptionFollower(registry: parts.subscriptions)
    }

    // MARK: What the adapters report

    func deliveriesReceived(_ deliveries: [Delivery]) {
        guard !isDraining else { return }
        for delivery in deliveries where delivery.isRedelivered { metrics.redelivered.add() }
        receive(deliveries)
        scheduleFlush()
    }

    /// Sorts deliveries by their lanes.
    func receive(_ deliveries: [Delivery]) {
        guard deliveries.contains(where: { $0.lane == .fanout }) else { return waiting.append(deliveries) }
        waiting.append(deliveries.filter { $0.lane == .work })
        for delivery in deliveries where delivery.lane == .fanout {
            let flow = fanOutFlow(of: delivery)
            if chunks[delivery.tag] == nil {
                waitingFanOuts.append(delivery, flow: flow)
            } else {
                waitingFanOuts.putInFront(delivery, flow: flow)
            }
        }
    }

    func sourceStateChanged(_ state: DeliverySourceState) {
        switch state {
        case .consuming(let epoch):
            waiting.removeAll(before: epoch)
            waitingFanOuts.removeAll { $0.tag.epoch < epoch }
            forgetUnreadChunks(before: epoch)
            turns.forgetWaiting()
            claiming.removeAll()
            health.set(.source, nil)
        case .interrupted(let reason):
            // All of it will come again; to begin it now would only make duplicates.
            waiting.removeAll()
            waitingFanOuts.removeAll { _ in true }
            forgetUnreadChunks(before: .max)
            turns.forgetWaiting()
            // What is delivered again looks for its claims in any case.
            claiming.removeAll()
            health.set(.source, "not consuming: \(reason)")
        case .misconfigured(let reason): health.set(.source, "cannot consume: \(reason)")
        case .cancelled: health.set(.source, "stopped consuming")
        }
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        var isTaken = false
        machine.clocksRead(parts.now())
        for (identifier, outcome) in outcomes {
            if outcome == .confirmed { isTaken = true }
            machine.publishEnded(identifier, outcome, into: &actions)
        }
        if isTaken { health.set(.parking, nil) }
        scheduleFlush()
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        health.set(.publisher, isReady ? nil : "cannot publish: \(reason)")
    }

    func pushesEnded(_ results: [PushResult]) {
        machine.pushesEnded(results, at: parts.now(), into: &actions) { [metrics] result, app in
            if case .ambiguous = result.outcome { metrics.ambiguous.add() }
            metrics.observePush(app: app, nanoseconds: result.durationNanoseconds)
        }
        noteTold()
        scheduleFlush()
    }

    // MARK: A tick

    func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        loop.atEndOfTick { [self] in flush() }
    }

    /// Works off what came in during the tick.
    private func flush() {
        isFlushScheduled = false
        machine.sendWaiting(at: parts.now(), into: &actions)
        while registryRetry == nil, !machine.isSaturated(.work) {
            let batch = waiting.takeFirst(batchSize)
            guard !batch.isEmpty else { break }
            takeIn(batch)
            machine.sendWaiting(at: parts.now(), into: &actions)
        }
        if registryRetry == nil { takeInFanOut() }
        perform()
        sendPacedLater()
        if isDraining, machine.jobCount == 0, waiting.isEmpty, waitingFanOuts.isEmpty, chunksToRecord.isEmpty {
            whenDrained?()
            whenDrained = nil
        }
    }

    /// Takes in a page of a fan-out: one in a tick, so that what has come meanwhile need not wait for the next.
    private func takeInFanOut() {
        holdBackHangingFanOuts()
        guard let page = waitingFanOuts.takeFirst(where: { mayServePage(of: $0, flow: $1) }) else { return }
        // Small events need not wait until the page has been looked up and rendered.
        handOverSends()
        takeIn([page])
        machine.sendWaiting(at: parts.now(), into: &actions)
        if !waitingFanOuts.isEmpty { scheduleFlush() }
    }

    /// Pushes of large fan-outs that go out evenly go on in a millisecond, even if nothing happens until then.
    private func sendPacedLater() {
        guard machine.isBulkPaced, !isPacedFlushScheduled else { return }
        isPacedFlushScheduled = true
        loop.schedule(afterNanoseconds: 1_000_000) { [self] in
            isPacedFlushScheduled = false
            scheduleFlush()
        }
    }

    // MARK: The end

    /// Begins nothing new, and calls back when everything that was begun has been settled.
    ///
    /// What was received and not begun goes back to the broker when the connection closes. A chunk of a large fan-out
    /// that was begun is served to its end; a plan is gone on with by whoever gets the event next.
    func drain(whenDrained: @escaping () -> Void) {
        isDraining = true
        health.set(.draining, "draining")
        if let registryRetry { loop.cancel(registryRetry) }
        registryRetry = nil
        waiting.removeAll { chunks[$0.tag] == nil }
        waitingFanOuts.removeAll { chunks[$0.tag] == nil }
        turns.forgetWaiting { chunks[$0.tag] != nil }
        self.whenDrained = whenDrained
        scheduleFlush()
    }
}
