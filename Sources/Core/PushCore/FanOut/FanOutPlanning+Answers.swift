public import Essentials

/// What the registry and the broker answer to plans.
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
    public mutating func registryIsReadOnly(
        _ error: RegistryError, at now: MonotonicTime, into actions: inout Actions
    ) {
        unavailableUntil = now.advanced(byMilliseconds: Self.unavailableMilliseconds)
        actions.notices.append(.unavailable(error))
    }

    /// A plan has a question until it is answered, whatever happens meanwhile.
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
