public import ChangeEvents
public import Essentials
public import RegistryCore

/// Plans the large fan-outs of this worker: asks the registry, has chunks published, and settles planned events.
///
/// The deliveries of an event are settled when the broker has confirmed every chunk. All that a plan needs is in the
/// registry, so a redelivered event goes on where this worker ended. `FanOutPlanner` is the machine of one plan.
///
/// | a plan is | means | can transition to |
/// |---|---|---|
/// | beginning | the registry is asked for the fan-out of its event | planning, or ended (found, read-only registry) |
/// | planning | `FanOutPlanner` says what is next | ended (finished, or a chunk that the broker never takes) |
///
/// A plan asks one question at a time. After a failure, or if another worker plans, it goes on after a delay.
///
/// The loss of the connection changes nothing: plans go on, and to settle a delivery of a lost connection is harmless.
/// The event comes again and finds its plan here, or its fan-out in the registry.
///
/// Methods are named after events; the resulting actions are appended to `Actions`. Time is an argument.
public struct FanOutPlanning: Sendable {
    /// How long no fan-out is begun after the registry could only be read, in milliseconds.
    static let unavailableMilliseconds: UInt64 = 60_000

    struct Plan: Sendable {
        let event: LargeEvent
        /// The deliveries that end with the plan.
        var tags: [DeliveryTag]
        /// The first deliveries of the events that are not in `Actions.taken` yet.
        var newcomers: [DeliveryTag]
        /// The machine of the plan; nil until the fan-out is known.
        var planner: FanOutPlanner?
        /// The rows of the subscriptions that match a record's change, once they are known.
        var matching: [Int64]?
        /// The question that the registry has not answered.
        var question: Question?
        /// When the plan goes on after a delay; nil if it waits for something else.
        var goesOnAt: MonotonicTime?
    }

    let planner: Int64
    private let devicesPerChunkMaximum: Int
    let repeatDelayNanoseconds: UInt64
    var plans: [UInt64: Plan] = [:]
    private var lastNumber: UInt64 = 0
    var unavailableUntil: MonotonicTime?
    private var isDraining = false

    /// Creates a machine without plans.
    ///
    /// - Parameters:
    ///   - planner: the number of this worker among the planners; not 0, and a new one after each start.
    ///   - devicesPerChunkMaximum: the most devices of a chunk.
    ///   - repeatDelayNanoseconds: the time after which the registry is asked again.
    public init(planner: Int64, devicesPerChunkMaximum: Int, repeatDelayNanoseconds: UInt64) {
        precondition(planner != 0, "0 means that nobody plans")
        self.planner = planner
        self.devicesPerChunkMaximum = devicesPerChunkMaximum
        self.repeatDelayNanoseconds = repeatDelayNanoseconds
    }

    // MARK: State

    /// The number of fan-outs that this worker plans.
    public var planCount: Int { plans.values.count { $0.planner != nil } }

    /// Whether the registry can keep fan-outs, as far as is known.
    public func isPossible(at now: MonotonicTime) -> Bool { unavailableUntil.map { $0 <= now } ?? true }

    /// The time when `tick` has something to do, if nothing happens until then; nil if it has not.
    public var nextDeadline: MonotonicTime? {
        isDraining ? nil : plans.values.lazy.compactMap(\.goesOnAt).min()
    }

    // MARK: Events begin

    /// The audience of an event is large.
    ///
    /// - Parameters:
    ///   - event: the event, which can be rendered.
    ///   - tags: its delivery first, then those of the events that it stands for.
    ///   - known: its fan-out, if the registry has returned it before.
    ///   - now: the time.
    ///   - actions: receives the actions.
    public mutating func began(
        _ event: LargeEvent, tags: [DeliveryTag], known: FanOut? = nil, at now: MonotonicTime,
        into actions: inout Actions
    ) {
        guard !isDraining, let first = tags.first else {
            return assert(!tags.isEmpty, "an event has a delivery")
        }
        if let known, known.state != .planning { return found(known, [first], tags, into: &actions) }
        if let number = plans.first(where: { $0.value.event.event.digest == event.event.digest })?.key {
            return join(number, first, tags, into: &actions)
        }
        lastNumber += 1
        plans[lastNumber] = Plan(event: event, tags: tags, newcomers: [first])
        if let known {
            fanOutKnown(lastNumber, known, at: now, into: &actions)
        } else {
            goOn(lastNumber, at: now, into: &actions)
        }
    }

    private mutating func join(
        _ number: UInt64, _ first: DeliveryTag, _ tags: [DeliveryTag], into actions: inout Actions
    ) {
        plans[number]?.tags += tags
        if let fanOut = plans[number]?.planner?.fanOut {
            actions.taken.append(Taken(tag: first, deviceCount: fanOut.devicesPlanned))
        } else {
            plans[number]?.newcomers.append(first)
        }
    }

    /// The fan-out of a plan that is beginning is known.
    mutating func fanOutKnown(
        _ number: UInt64, _ fanOut: FanOut, at now: MonotonicTime, into actions: inout Actions
    ) {
        guard var plan = plans[number] else { return }
        guard fanOut.state == .planning else {
            plans[number] = nil
            return found(fanOut, plan.newcomers, plan.tags, into: &actions)
        }
        actions.taken += plan.newcomers.map { Taken(tag: $0, deviceCount: fanOut.devicesPlanned) }
        actions.notices.append(.planning(fanOut))
        plan.newcomers = []
        plan.planner = FanOutPlanner(fanOut, planner: planner)
        plans[number] = plan
        goOn(number, at: now, into: &actions)
    }

    private func found(
        _ fanOut: FanOut, _ events: [DeliveryTag], _ tags: [DeliveryTag], into actions: inout Actions
    ) {
        for tag in events {
            actions.taken.append(Taken(tag: tag, deviceCount: fanOut.devicesPlanned))
            actions.notices.append(.found(fanOut))
            actions.counts.found += 1
        }
        actions.settles += tags
    }

    // MARK: Steps

    /// A tick has come, or the time of `nextDeadline`.
    public mutating func tick(at now: MonotonicTime, into actions: inout Actions) {
        guard let time = nextDeadline, time <= now else { return }
        for number in plans.keys.sorted() {
            guard let time = plans[number]?.goesOnAt, time <= now else { continue }
            goOn(number, at: now, into: &actions)
        }
    }

    /// The worker stops: no plan takes a further step.
    ///
    /// The worker that gets the event next goes on with its plan.
    public mutating func drain() { isDraining = true }

    mutating func goOn(_ number: UInt64, at now: MonotonicTime, into actions: inout Actions) {
        guard !isDraining, let plan = plans[number] else { return }
        plans[number]?.goesOnAt = nil
        guard let fanOut = plan.planner?.fanOut, let step = plan.planner?.step else {
            return ask(.fanOut(.begin(plan.event.event, planner: planner)), number, into: &actions)
        }
        switch step {
        case .ask: ask(.fanOut(.begin(plan.event.event, planner: planner)), number, into: &actions)
        case .find(let after): ask(.findChunk(search(plan, fanOut, after)), number, into: &actions)
        case .save(let chunks):
            ask(.fanOut(.plan(chunks, of: fanOut.number, planner: planner)), number, into: &actions)
        case .read(let after, let limit):
            ask(.fanOut(.read(of: fanOut.number, after: after, limit: limit)), number, into: &actions)
        case .publish(let chunks):
            plans[number]?.planner?.published()
            actions.publishes += chunks.map { chunk in
                Publish(
                    plan: number, chunk: FanOutChunkJob(fanOut: fanOut.number, chunk: chunk),
                    message: plan.event.message, retryState: plan.event.retryState)
            }
        case .record(let through):
            ask(.fanOut(.published(through: through, of: fanOut.number, planner: planner)), number, into: &actions)
        case .waitForConfirms: break
        case .waitForOther:
            plans[number]?.planner?.asked()
            plans[number]?.goesOnAt = now.advanced(byNanoseconds: repeatDelayNanoseconds)
        case .finish:
            plans[number] = nil
            actions.counts.planned += 1
            actions.notices.append(.planned(fanOut))
            actions.settles += plan.tags
        }
    }

    private mutating func ask(_ question: Question, _ number: UInt64, into actions: inout Actions) {
        assert(plans[number]?.question == nil, "a plan asks one question at a time")
        plans[number]?.question = question
        actions.questions.append((number, question))
    }

    private func search(_ plan: Plan, _ fanOut: FanOut, _ after: AudienceCursor?) -> FanOutChunkSearch {
        FanOutChunkSearch(
            fanOut: fanOut.number, event: plan.event.event.digest,
            audience: plan.matching.map { .subscriptions($0) } ?? plan.event.audience,
            newestSubscription: fanOut.newestSubscription, excludedDeviceID: plan.event.excludedDeviceID,
            after: after, limit: devicesPerChunkMaximum)
    }
}

/// The answers of the registry and the broker to plans.
extension FanOutPlanning {
    // MARK: The registry answers

    /// The registry answered a request about the fan-out of a plan.
    public mutating func answered(
        _ number: UInt64, _ answer: FanOutRequest.Answer, at now: MonotonicTime, into actions: inout Actions
    ) {
        guard case .fanOut(let request)? = takeQuestion(number) else { return }
        switch (request, answer) {
        case (.begin, .fanOut(let fanOut)) where plans[number]?.planner == nil:
            return fanOutKnown(number, fanOut, at: now, into: &actions)
        case (.begin, .fanOut(let fanOut)), (.published, .fanOut(let fanOut)):
            plans[number]?.planner?.fanOutRead(fanOut)
        case (.plan, .fanOut(let fanOut)): plans[number]?.planner?.planSaved(fanOut)
        case (.read, .chunks(let chunks)): plans[number]?.planner?.unpublishedRead(chunks)
        default: return assertionFailure("the answer is not one to the request")
        }
        goOn(number, at: now, into: &actions)
    }

    /// The registry found the end of a chunk of a plan.
    public mutating func chunkFound(
        _ number: UInt64, _ extent: FanOutChunkExtent, at now: MonotonicTime, into actions: inout Actions
    ) {
        guard case .findChunk? = takeQuestion(number) else { return }
        if let matching = extent.matching { plans[number]?.matching = matching }
        plans[number]?.planner?.chunkFound(
            through: extent.through, subscriptions: extent.subscriptions, deviceCount: extent.deviceCount)
        goOn(number, at: now, into: &actions)
    }

    /// The registry did not answer the question of a plan: it is asked again after a while.
    ///
    /// If the registry can only be read and the plan was beginning, its event is to be served page by page.
    public mutating func questionFailed(
        _ number: UInt64, _ error: RegistryError, at now: MonotonicTime, into actions: inout Actions
    ) {
        guard takeQuestion(number) != nil, let plan = plans[number] else { return }
        if plan.planner == nil, error.code == .readOnly {
            plans[number] = nil
            registryIsReadOnly(error, at: now, into: &actions)
            return actions.unplanned.append(Unplanned(events: plan.newcomers, tags: plan.tags))
        }
        actions.counts.registryFailures += 1
        if let fanOut = plan.planner?.fanOut {
            if error.code == .notFound { plans[number]?.planner?.fanOutLost() }
            actions.notices.append(.failed(fanOut, error))
        } else {
            actions.notices.append(.beginningFailed(plan.event.event, error))
        }
        plans[number]?.goesOnAt = now.advanced(byNanoseconds: repeatDelayNanoseconds)
    }

    /// The registry can only be read, as it has answered to this machine or to another question about fan-outs.
    mutating func registryIsReadOnly(
        _ error: RegistryError, at now: MonotonicTime, into actions: inout Actions
    ) {
        unavailableUntil = now.advanced(byMilliseconds: Self.unavailableMilliseconds)
        actions.notices.append(.unavailable(error))
    }

    /// A plan has a question until it is answered, despite any other event.
    private mutating func takeQuestion(_ number: UInt64) -> Question? {
        let question = plans[number]?.question
        assert(question != nil, "an answer came to a question that was not asked")
        plans[number]?.question = nil
        return question
    }

    // MARK: The broker answers

    /// The broker has confirmed a chunk of a plan.
    public mutating func chunkConfirmed(_ number: UInt64, at now: MonotonicTime, into actions: inout Actions) {
        // The plan of a confirmed chunk may have ended because the broker never takes another one.
        guard plans[number] != nil else { return }
        plans[number]?.planner?.chunkConfirmed()
        actions.counts.chunksPlanned += 1
        if plans[number]?.planner?.step != .waitForConfirms { goOn(number, at: now, into: &actions) }
    }

    /// The broker never takes a chunk of a plan, so its deliveries become dead letters.
    ///
    /// The chunks that the registry has stay there, so that a replay goes on with them.
    public mutating func rejected(_ number: UInt64, detail: String, into actions: inout Actions) {
        guard let plan = plans.removeValue(forKey: number) else { return }
        actions.rejections.append(.init(tags: plan.tags, message: plan.event.message, detail: detail))
    }
}
