public import ChangeEvents
public import Essentials
public import Notifications
public import RegistryCore
public import Tracing

/// All decisions of a worker between the broker, the registry and the push services: decoding, requests to the
/// registry, pushes, publishes and settlements.
///
/// It is a pure value: the methods are named after events, time is an argument, and `actions` holds the actions for the
/// shell. The shell calls `tick` after each batch of events, and when `nextTick` has come.
///
/// | part | decides |
/// |---|---|
/// | `Intake` | decoding, order within a dataset, coalescing, batches of questions |
/// | `FanOutServing` | chunks and pages of large fan-outs |
/// | `FanOutPlanning` | the plans of large fan-outs |
/// | `DispatchStateMachine` | pushes, retries, dead letters, and when a delivery may be settled |
///
/// The prefetch bounds memory: the broker gives out no more deliveries, and no page of devices is requested while
/// pushes wait for a free place.
public struct PipelineMachine {
    /// How long after one look at apps that may be slow the next one is taken, if nothing happens meanwhile.
    static let healthLookMilliseconds: UInt64 = 250
    /// How long after one push of a paced large fan-out the next one may go out, if nothing happens meanwhile.
    static let paceMilliseconds: UInt64 = 1
    /// The most dead tokens that wait for a registry that is slow.
    static let deadTokensMaximum = 4_096
    /// The most outcomes that wait to be kept, and that are kept at once.
    static let keptOutcomesMaximum = 4_096
    static let keptOutcomesAtOnce = 512
    let configuration: PipelineConfiguration
    /// Renders pushes, and names apps.
    public internal(set) var renderer: ContentRenderer
    /// Whether any backend wants to hear of its pushes.
    let areOutcomesWanted: Bool
    var intake: Intake
    /// The outcomes that wait in the registry.
    var outbox: OutcomeOutbox
    var serving: FanOutServing
    var planning: FanOutPlanning
    /// The decisions of `serving` that the machine has not carried out yet.
    var serves = FanOutServing.Actions()
    /// The decisions of `planning` that the machine has not carried out yet.
    var plans = FanOutPlanning.Actions()
    /// The events of the deliveries that are served.
    var pages: [DeliveryTag: Page] = [:]
    /// The events whose fan-out is not known yet.
    var planned: [DeliveryTag: PlannedEvent] = [:]
    /// The deliveries of earlier connections are lost.
    var firstGoodEpoch: UInt32 = 0
    var pending: PendingRequests
    /// Messages that the broker refused, and when they are published again.
    private var publishesToRepeat: [(due: MonotonicTime, messages: [OutgoingMessage])] = []
    /// Tokens to remove from the registry with the next request.
    private var deadTokens: [DeadToken] = []
    /// Outcomes to keep in the registry with the next requests.
    private var keptOutcomes: [KeptOutcome] = []
    /// Whether the broker has handed over its queues at least once.
    private var hasConsumed = false
    private(set) var isDraining = false
    /// When the pauses are read next; nil while that is asked.
    var pausesDue: MonotonicTime? = MonotonicTime(nanoseconds: 0)

    /// Makes the spans of recorded events; nil if no exporter takes them.
    public var spans: DeliverySpans?
    /// The life of every delivery after its audience is known.
    public internal(set) var dispatch: DispatchStateMachine
    /// The actions for the shell, which empties the lists afterwards.
    public var actions = PipelineActions()
    /// When `tick` has to be called next, even if nothing happens until then; nil if it need not.
    public private(set) var nextTick: MonotonicTime?
    /// The pauses in force of configured apps, and that of all.
    public internal(set) var pauses: [AppPause] = []
    /// Whether the pauses have been read once, without which nothing else begins.
    var hasReadPauses = false
    /// Whether the pauses could not be read the last time, which was told.
    var areReadingsFailing = false
    /// Why nothing is consumed; nil if it is.
    public private(set) var consumptionStop: ConsumptionStop?
    /// Whether all subscriptions to records have been read; consumption starts only then.
    public private(set) var hasReadSubscriptions = false

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - configuration: apps, policy, queues and limits.
    ///   - planner: the number of this worker among the planners of large fan-outs; not 0.
    public init(configuration: PipelineConfiguration, planner: Int64) {
        self.configuration = configuration
        renderer = ContentRenderer(apps: configuration.apps, receipts: configuration.receipts)
        areOutcomesWanted = configuration.routes.contains { !$0.outcomes.isEmpty }
        intake = Intake(
            sources: configuration.sources,
            memory: EventMemory(isOn: configuration.limits.eventMemoryMilliseconds > 0))
        outbox = OutcomeOutbox(isOn: configuration.limits.storesOutcomes)
        pending = PendingRequests(repeatDelayNanoseconds: configuration.repeatDelayNanoseconds)
        serving = FanOutServing(
            hasSeveralApps: configuration.routes.count > 1, repeatDelayNanoseconds: configuration.repeatDelayNanoseconds
        )
        planning = FanOutPlanning(
            planner: planner, devicesPerChunkMaximum: configuration.limits.devicesPerChunkMaximum,
            repeatDelayNanoseconds: configuration.repeatDelayNanoseconds)
        dispatch = DispatchStateMachine(
            appCount: configuration.routes.count, policy: configuration.retryPolicy, queues: configuration.queues,
            limits: configuration.limits, seed: UInt64(bitPattern: planner))
        dispatch.appNames = Set(configuration.apps.map(\.name))
        dispatch.toldOutcomes = configuration.toldOutcomes
    }

    // MARK: Events

    /// The broker handed out deliveries.
    public mutating func deliveriesReceived(_ deliveries: [Delivery], at now: Moment) {
        guard !isDraining else { return }
        dispatch.clocksRead(now)
        guard deliveries.contains(where: { $0.deliveryClass == .bulk }) else { return intake.received(deliveries) }
        intake.received(deliveries.filter { $0.deliveryClass == .interactive })
        for delivery in deliveries where delivery.deliveryClass == .bulk { pageReceived(delivery, at: now) }
    }

    /// The connection to the broker changed.
    public mutating func sourceStateChanged(_ state: DeliverySourceState, at now: Moment) {
        switch state {
        case .consuming(let epoch):
            sourceLost(before: epoch, at: now)
            hasConsumed = true
            decideConsumption()
        // All of it will come again; to begin it now would only make duplicates.
        case .interrupted: sourceLost(before: .max, at: now)
        case .misconfigured, .refused, .cancelled: break
        }
    }

    private mutating func sourceLost(before epoch: UInt32, at now: Moment) {
        firstGoodEpoch = epoch
        intake.sourceLost(before: epoch)
        spans?.sourceLost(before: epoch, at: now)
        forgetLostBatches()
        serving.sourceLost(before: epoch, into: &serves)
        takeOverPages(at: now)
    }

    /// The broker takes no messages on a connection that it keeps, or takes them again.
    public mutating func publisherBlocked(_ isBlocked: Bool, at now: Moment) {
        dispatch.clocksRead(now)
        dispatch.publisherBlocked(isBlocked, into: &actions.dispatch)
    }

    /// The broker answered for messages.
    public mutating func publishesEnded(
        _ outcomes: [(identifier: UInt64, outcome: PublishOutcome)], at now: Moment
    ) {
        dispatch.clocksRead(now)
        for (identifier, outcome) in outcomes {
            dispatch.publishEnded(identifier, outcome, into: &actions.dispatch)
        }
        repeatPublishesLater(now)
    }

    /// Attempts of pushes ended.
    ///
    /// - Parameters:
    ///   - results: how they ended.
    ///   - now: the time.
    ///   - ended: called with each result, the index of its app, and the trace of its event.
    public mutating func pushesEnded(
        _ results: [AttemptResult], at now: Moment,
        each ended: (AttemptResult, Int, APNsIdentifier, EventTrace?) -> Void = { _, _, _, _ in }
    ) {
        dispatch.pushesEnded(results, at: now, into: &actions.dispatch, each: ended)
        intake.noteTold(actions.dispatch.told)
        actions.dispatch.told.removeAll(keepingCapacity: true)
    }

    /// The transport said which routes lead to the push services.
    public mutating func routesChanged(_ changes: [RouteChange]) {
        for change in changes { dispatch.routeChanged(change.route, isReachable: change.isReachable) }
        decideConsumption()
    }

    /// Stops to consume while nothing could be sent.
    ///
    /// It has begun before in any case, so that a worker that starts while everything is paused has found its queues.
    mutating func decideConsumption() {
        let health = dispatch.health
        let stop: ConsumptionStop? =
            health.isEverythingPaused ? .paused : health.isEverythingUnreachable ? .unreachable : nil
        guard stop != consumptionStop, hasConsumed, !isDraining else { return }
        consumptionStop = stop
        actions.notices.append(.consumption(stop))
    }

    // MARK: A tick

    /// Decides the consequences of all events since the last tick.
    ///
    /// The first tick asks for the pauses, and the next one begins to read the subscriptions to records.
    public mutating func tick(at now: Moment) {
        renderer.hour = CampaignRules.hour(ofMilliseconds: now.wall.milliseconds)
        pending.tick(at: now.monotonic, into: &actions.notices)
        askForPauses(at: now)
        if hasReadPauses, !hasReadSubscriptions, pending.retryAt == nil, !pending.contains({ $0 == .subscriptions }),
            !isDraining
        {
            ask(.readSubscriptions, .subscriptions, at: now)
        }
        dispatch.sendWaiting(at: now, into: &actions.dispatch)
        dispatch.abandonBlockedOutcomes(into: &actions.dispatch)
        distribute(at: now)
        askForBatches(at: now)
        askForPages(at: now)
        distribute(at: now)
        rememberEnded(at: now)
        tendOutbox(at: now)
        publishAgain(now)
        if spans != nil { recordSpans(at: now) }
        findNextTick(now)
    }

    /// Hands what one part has decided over to the others, until none has decided anything more.
    private mutating func distribute(at now: Moment) {
        repeat {
            pagesEnded(at: now)
            plansAdvanced(at: now)
            for dataset in actions.dispatch.datasetsSettled { intake.ended(dataset) }
            actions.dispatch.datasetsSettled.removeAll(keepingCapacity: true)
        } while !actions.dispatch.chunkPagesEnded.isEmpty || !actions.dispatch.plansRejected.isEmpty
        pruneDeadTokens(at: now)
        keepOutcomes(at: now)
    }

    /// Asks for dead tokens to be removed, one request at a time.
    ///
    /// Nothing waits for it: the next push to a token that is still there will be answered in the same way. For the
    /// same reason tokens are forgotten if too many wait for a registry that is slow.
    private mutating func pruneDeadTokens(at now: Moment) {
        deadTokens += actions.dispatch.deadTokens.prefix(max(0, Self.deadTokensMaximum - deadTokens.count))
        actions.dispatch.deadTokens.removeAll(keepingCapacity: true)
        guard !deadTokens.isEmpty, !isPruning else { return }
        ask(.prune(deadTokens), .pruning(tokenCount: deadTokens.count), at: now)
        deadTokens = []
    }

    /// Asks for outcomes to be kept, one request at a time.
    ///
    /// No delivery waits for it: the history of events is no part of the promise. Outcomes are left out while the
    /// registry takes them more slowly than they come.
    private mutating func keepOutcomes(at now: Moment) {
        let room = max(0, Self.keptOutcomesMaximum - keptOutcomes.count)
        let outcomes = actions.dispatch.keptOutcomes
        keptOutcomes += outcomes.prefix(room)
        if outcomes.count > room { actions.notices.append(.historyLeftOut(outcomes.count - room, nil)) }
        actions.dispatch.keptOutcomes.removeAll(keepingCapacity: true)
        guard !keptOutcomes.isEmpty, !isKeeping else { return }
        let next = Array(keptOutcomes.prefix(Self.keptOutcomesAtOnce))
        keptOutcomes.removeFirst(next.count)
        ask(.keepOutcomes(next), .keeping(outcomeCount: next.count), at: now)
    }

    private var isKeeping: Bool { pending.contains { if case .keeping = $0 { true } else { false } } }

    private var isPruning: Bool { pending.contains { if case .pruning = $0 { true } else { false } } }

    // MARK: The registry

    /// Asks the registry.
    mutating func ask(_ request: RegistryRequest, _ purpose: PendingRequests.Purpose, at now: Moment) {
        actions.requests.append(.init(number: pending.asked(for: purpose, at: now.monotonic), request: request))
    }

    /// The registry answered a request.
    ///
    /// - Parameters:
    ///   - number: the number of the request.
    ///   - result: the answer; a failure if the registry could not answer.
    ///   - now: the time.
    public mutating func registryAnswered(
        _ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>, at now: Moment
    ) {
        var isSuccess = true
        if case .failure = result { isSuccess = false }
        // The answer to a batch whose connection was lost is not needed.
        guard
            let purpose = pending.answered(
                number, isSuccess: isSuccess, at: now.monotonic, into: &actions.notices)
        else { return }
        dispatch.clocksRead(now)
        switch purpose {
        case .pauses: pausesRead(result, at: now)
        case .subscriptions: subscriptionsRead(result, at: now)
        case .batch(let number): batchAnswered(number, result, at: now)
        case .page(let tag): pageAnswered(tag, result, at: now)
        case .plan(let number): planAnswered(number, result, at: now)
        case .endings: endingsAnswered(result, at: now)
        case .keeping(let outcomeCount):
            if case .failure(let error) = result { actions.notices.append(.historyLeftOut(outcomeCount, error)) }
        case .memory: memoryAnswered(result, at: now)
        case .addingOutcomes(let identifiers): outcomesAdded(identifiers, result, at: now)
        case .findingOutcomes: waitingOutcomesFound(result, at: now)
        case .removingOutcomes: waitingOutcomesRemoved(result, at: now)
        case .pruning(let tokenCount):
            switch result {
            case .success(.pruned(let count)): actions.notices.append(.pruned(count))
            case .failure(let error): actions.notices.append(.pruningFailed(tokenCount: tokenCount, error))
            default: assertionFailure("the registry answered something else than it was asked")
            }
        }
    }

    private mutating func subscriptionsRead(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        switch result {
        case .success(.subscriptionsRead(let areAll, let size)):
            hasReadSubscriptions = areAll
            actions.notices.append(.subscriptionsRead(areAll: areAll, size))
        case .failure(let error): registryFailed(error, at: now)
        default: assertionFailure("the registry answered something else than it was asked")
        }
    }

    /// The registry did not answer a look-up: batches wait until it is tried again.
    mutating func registryFailed(_ error: RegistryError, at now: Moment) {
        pending.lookUpFailed(error, waits: true, at: now.monotonic, into: &actions.notices)
    }

    /// Batches whose connection was lost are awaited no more, so that the next ones can be asked.
    private mutating func forgetLostBatches() {
        let asked = Set(intake.asked.map(\.number))
        pending.abandon { purpose in if case .batch(let number) = purpose { !asked.contains(number) } else { false } }
    }

    // MARK: Refused publishes

    private mutating func repeatPublishesLater(_ now: Moment) {
        guard !actions.dispatch.publishesToRepeat.isEmpty else { return }
        let due = now.monotonic.advanced(byNanoseconds: configuration.repeatDelayNanoseconds)
        publishesToRepeat.append((due, actions.dispatch.publishesToRepeat))
        actions.dispatch.publishesToRepeat.removeAll(keepingCapacity: true)
    }

    private mutating func publishAgain(_ now: Moment) {
        while let first = publishesToRepeat.first, first.due <= now.monotonic {
            actions.dispatch.publishes += publishesToRepeat.removeFirst().messages
        }
    }

    // MARK: Time

    private mutating func findNextTick(_ now: Moment) {
        var next = [
            pending.nextDeadline, publishesToRepeat.first?.due, serving.nextDeadline, planning.nextDeadline,
            dispatch.outcomeFlow.deadline, isDraining ? nil : pausesDue,
            mayRestoreOutcomes ? outbox.nextDeadline : nil, intake.memory.nextDeadline,
        ].compactMap(\.self).min()
        func atLatest(afterMilliseconds delay: UInt64) {
            let due = now.monotonic.advanced(byMilliseconds: delay)
            next = min(next ?? due, due)
        }
        if dispatch.isBulkPaced { atLatest(afterMilliseconds: Self.paceMilliseconds) }
        if dispatch.health.services.isWatching { atLatest(afterMilliseconds: ServiceHealth.lookMilliseconds) }
        if dispatch.health.isWatching { atLatest(afterMilliseconds: Self.healthLookMilliseconds) }
        nextTick = next
    }

    // MARK: The end

    /// Begins nothing new.
    ///
    /// Received deliveries that have not begun go back to the broker when the connection closes. A chunk of a large
    /// fan-out that was begun is served to its end. The worker that gets the event of a plan next goes on with the
    /// plan.
    public mutating func drain(at now: Moment) {
        isDraining = true
        intake.drain()
        forgetLostBatches()
        serving.drain(into: &serves)
        takeOverPages(at: now)
        planning.drain()
    }

    /// How many large fan-outs this worker plans.
    public var planCount: Int { planning.planCount }

    /// Whether everything that was begun has been settled, after `drain`.
    public var isDrained: Bool {
        isDraining && dispatch.jobCount == 0 && intake.isEmpty && serving.isEmpty
            && deadTokens.isEmpty && !isPruning && keptOutcomes.isEmpty && !isKeeping && intake.memory.isIdle
            && outbox.isIdle
    }
}

/// The spans of recorded events.
extension PipelineMachine {
    /// Takes the spans that have ended since the last call.
    public mutating func takeSpans() -> [Span] { spans?.takeFinished() ?? [] }

    /// Notes what happened to recorded deliveries in this tick.
    mutating func recordSpans(at now: Moment) {
        for (tag, attempt) in actions.dispatch.attempts { spans?.pushEnded(tag, attempt, at: now) }
        for copy in actions.dispatch.copies {
            spans?.copyPublished(
                copy.tag, to: copy.queue, reason: copy.reason, outcome: copy.outcome, begun: copy.begun, at: now)
        }
        for rejection in actions.dispatch.rejections {
            for tag in rejection.tags { spans?.deliveryEnded(tag, .rejected(reason: "rejected"), at: now) }
        }
        for tag in actions.dispatch.settles { spans?.deliveryEnded(tag, .settled, at: now) }
    }
}
