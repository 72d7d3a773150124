import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// Between `FanOutPlanning` and the others: events with large audiences become plans, and plans become chunks.
extension PipelineMachine {
    /// An event that was handed to the planning, and the coalesced events that it replaces.
    struct PlannedEvent {
        let event: DecodedEvent
        let superseded: [DecodedEvent]
    }

    /// Whether the registry can keep large fan-outs, as far as is known.
    func arePlansPossible(at now: MonotonicTime) -> Bool { planning.isPossible(at: now) }

    /// Plans an event whose audience is large.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - superseded: older changes of its dataset that it stands for.
    ///   - excludedDeviceID: the one device to leave out.
    ///   - firstDevices: some of its devices, for which it is rendered to see whether that can be done.
    ///   - known: its fan-out, if it is a redelivered event that has one.
    ///   - now: the time.
    mutating func plan(
        _ event: DecodedEvent, standingFor superseded: [DecodedEvent], excluding excludedDeviceID: String?,
        firstDevices: [Recipient], known: FanOut?, at now: Moment
    ) {
        let retryState = history(of: event, standingFor: superseded, excluding: excludedDeviceID)
        do throws(EventRejection) {
            // An event that cannot be rendered is reported once, and not by each chunk.
            _ = try renderer.render(event.event, expiresAt: retryState.expiresAt, devices: firstDevices)
        } catch {
            for event in [event] + superseded { reject(event.delivery, event.retryState, error) }
            return
        }
        planned[event.delivery.tag] = PlannedEvent(event: event, superseded: superseded)
        planning.began(
            FanOutPlanning.LargeEvent(
                event: FanOutEvent(event), message: event.delivery.message, retryState: retryState,
                audience: FanOutAudience(event), excludedDeviceID: excludedDeviceID),
            tags: ([event] + superseded).map(\.delivery.tag), known: known, at: now.monotonic, into: &plans)
    }

    /// The registry answered to a question of a plan.
    mutating func planAnswered(
        _ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>, at now: Moment
    ) {
        switch result {
        case .success(.fanOut(let answer)): planning.answered(number, answer, at: now.monotonic, into: &plans)
        case .success(.chunkFound(let extent)): planning.chunkFound(number, extent, at: now.monotonic, into: &plans)
        case .failure(let error): planning.questionFailed(number, error, at: now.monotonic, into: &plans)
        default: assertionFailure("the registry answered something else than it was asked")
        }
    }

    /// The broker has answered for chunks, and time has passed.
    mutating func plansAdvanced(at now: Moment) {
        for number in actions.dispatch.chunksConfirmed {
            planning.chunkConfirmed(number, at: now.monotonic, into: &plans)
        }
        actions.dispatch.chunksConfirmed.removeAll(keepingCapacity: true)
        for (number, detail) in actions.dispatch.plansRejected.sorted(by: { $0.key < $1.key }) {
            planning.rejected(number, detail: detail, into: &plans)
        }
        actions.dispatch.plansRejected.removeAll(keepingCapacity: true)
        planning.tick(at: now.monotonic, into: &plans)
        takeOverPlans(at: now)
    }

    /// Takes over the decisions of the planning.
    private mutating func takeOverPlans(at now: Moment) {
        guard !plans.isEmpty else { return }
        for (number, question) in plans.questions {
            switch question {
            case .fanOut(let request): ask(.fanOut(request), .plan(number), at: now)
            case .findChunk(let search): ask(.findChunk(search), .plan(number), at: now)
            }
        }
        for publish in plans.publishes {
            dispatch.chunkPlanned(
                publish.chunk, of: publish.plan, message: publish.message, retryState: publish.retryState,
                into: &actions.dispatch)
        }
        actions.dispatch.settles += plans.settles
        actions.dispatch.rejections += plans.rejections
        for taken in plans.taken {
            guard let planned = planned.removeValue(forKey: taken.tag) else { continue }
            report(planned.event, .matched, deviceCount: taken.deviceCount)
            for event in planned.superseded { report(event, .coalesced) }
        }
        for unplanned in plans.unplanned.flatMap(\.events) {
            guard let planned = planned.removeValue(forKey: unplanned) else { continue }
            let deliveries = ([planned.event] + planned.superseded).map(\.delivery)
            for delivery in deliveries where delivery.tag.epoch < firstGoodEpoch { intake.forgo(delivery.tag) }
            intake.putBack(deliveries.filter { $0.tag.epoch >= firstGoodEpoch })
        }
        actions.notices += plans.notices.map { .planning($0) }
        if plans.counts != FanOutPlanning.Counts() { actions.notices.append(.planned(plans.counts)) }
        plans.removeAll()
    }
}

extension FanOutEvent {
    /// Names the fan-out of an event.
    fileprivate init(_ event: DecodedEvent) {
        let app: String? =
            switch event.event.kind {
            case .push(let push): push.app
            case .record(let change): change.app
            case .dataset: nil
            }
        self.init(
            digest: event.digest, source: event.event.source, identifier: event.event.identifier,
            type: event.type.rawValue, app: app)
    }
}

extension FanOutAudience {
    /// The audience of an event, as it is searched chunk by chunk.
    fileprivate init(_ event: DecodedEvent) {
        self =
            switch event.event.kind {
            case .dataset(let change): .devices(.dataset(change.key))
            case .push(let push): .devices(push.audience)
            case .record(let change):
                .record(change, mayHaveClaims: event.delivery.isRedelivered || event.retryState.isRequeuedCopy)
            }
    }
}
