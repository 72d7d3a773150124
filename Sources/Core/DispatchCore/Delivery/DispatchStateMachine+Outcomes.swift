import ChangeEvents
import Essentials
import Messages
import Notifications
import RegistryCore

/// The outcomes that backends receive for their pushes.
///
/// A job ends only when the broker has confirmed its outcomes, or refused them for so long that they are dropped.
extension DispatchStateMachine {
    /// Publishes the outcomes of pushes, which a job then waits for.
    mutating func publishOutcomes(
        of pushes: [EndedPush], _ event: DecodedEvent, job number: UInt64, into actions: inout DispatchActions
    ) {
        let told = OutcomeEvent(event)
        publishOutcomes(
            OutcomeMessage(event: told, exchange: queues.outcomes).told(pushes, at: latest.wall), told, job: number,
            into: &actions)
    }

    /// Publishes that an event ended as a whole, before its devices were known; its job waits for that.
    mutating func publishOutcome(
        ofWhole event: OutcomeEvent, _ kind: OutcomeKind, apps: [String], reason: String, job number: UInt64,
        into actions: inout DispatchActions
    ) {
        let outcome = OutcomeMessage(event: event, exchange: queues.outcomes)
        publishOutcomes(
            apps.map { outcome.told(ofWhole: kind, app: $0, reason: reason, at: latest.wall) }, event, job: number,
            into: &actions)
    }

    /// Notes the outcomes for the history, and publishes those that backends want to hear.
    private mutating func publishOutcomes(
        _ outcomes: [OutcomeMessage.Told], _ event: OutcomeEvent, job number: UInt64,
        into actions: inout DispatchActions
    ) {
        var messages = outcomes
        if let toldOutcomes {
            // A large fan-out would fill the registry; how far it is stands there.
            if jobs[number]?.work.deliveryClass == .interactive {
                actions.keptOutcomes += outcomes.map { outcome in
                    KeptOutcome(
                        eventIdentifier: event.identifier,
                        identifier: outcome.message.properties.messageID ?? "", body: outcome.message.body)
                }
            }
            messages.removeAll { !(toldOutcomes[$0.app]?.contains($0.kind.selection) ?? false) }
        }
        guard !messages.isEmpty else { return }
        let waiting = messages.map { WaitingOutcome(routingKey: $0.routingKey, message: $0.message) }
        if limits.storesOutcomes, outcomeFlow.isBlocked { return store(waiting, job: number, into: &actions) }
        guard outcomeFlow.mayPublish(at: latest.monotonic) else {
            return drop(messages.count, .returned("RabbitMQ takes no messages"), into: &actions)
        }
        publish(waiting, job: number, into: &actions)
    }

    private mutating func store(
        _ outcomes: [WaitingOutcome], job number: UInt64, into actions: inout DispatchActions
    ) {
        jobs.modify(number) { $0.publishesOut += outcomes.count }
        for outcome in outcomes {
            let message = awaiting(outgoing(outcome), job: number, .outcome)
            actions.outcomesToStore.append((message.identifier, outcome))
        }
    }

    private mutating func publish(
        _ outcomes: [WaitingOutcome], job number: UInt64, into actions: inout DispatchActions
    ) {
        jobs.modify(number) { $0.publishesOut += outcomes.count }
        for outcome in outcomes {
            publish(outgoing(outcome), job: number, .outcome, reason: "", detail: "", into: &actions)
        }
    }

    private func outgoing(_ outcome: WaitingOutcome) -> OutgoingMessage {
        OutgoingMessage(
            identifier: 0, exchange: queues.outcomes, routingKey: outcome.routingKey, message: outcome.message,
            isOptional: true)
    }

    // MARK: While the broker takes nothing

    /// The registry has outcomes, or does not take them, so that they are dropped; their jobs wait no longer.
    mutating func outcomesStored(_ identifiers: [UInt64], areKept: Bool, into actions: inout DispatchActions) {
        // The broker may have answered for one meanwhile.
        let open = identifiers.filter { publishes[$0] != nil }
        if !areKept { drop(open.count, .returned("RabbitMQ takes no messages"), into: &actions) }
        for identifier in open {
            let job = publishes.remove(identifier).job
            copyEnded(of: job, rejection: nil, into: &actions)
        }
    }

    /// Publishes outcomes that have waited in the registry; it may forget them when `outcomesRestored` names them.
    mutating func restoreOutcomes(
        _ outcomes: [(number: Int64, outcome: WaitingOutcome)], into actions: inout DispatchActions
    ) {
        let delivery = RetryState(restoring: queues.outcomes, at: latest.wall)
        let work = DispatchJob(
            tags: [], message: Message(body: []), retryState: delivery,
            identity: PushIdentity(source: "", identifier: ""), renderings: [], devices: [])
        var job = Job(work: work)
        job.restoredOutcomes = outcomes.map(\.number)
        let number = jobs.insert { _ in job }
        publish(outcomes.map(\.outcome), job: number, into: &actions)
    }

    /// The broker takes no copy for a retry, so that it makes a dead letter of the event: the backend was told else.
    mutating func retriesRejected(_ publish: Publish, into actions: inout DispatchActions) {
        let work = work(of: publish.job)
        guard let event = work.event,
            case .array(let names) = publish.message.message.header(RetryHeader.devices)
        else { return }
        let pushes = work.devices.indices.compactMap { device -> EndedPush? in
            guard names.contains(.string(work.retryName(of: device))),
                let rendering = rendering(of: device, in: work),
                work.renderings[rendering].app.outcomes.contains(.deadLettered)
            else { return nil }
            return EndedPush(
                recipient: work.devices[device], subscriptionID: work.renderings[rendering].subscriptionID,
                kind: .deadLettered, reason: "rejected", apnsID: nil, sends: 0,
                ended: latest.wall)
        }
        if !pushes.isEmpty { publishOutcomes(of: pushes, event, job: publish.job, into: &actions) }
    }

    /// The broker takes no messages, for lack of memory or disk, or takes them again.
    mutating func publisherBlocked(_ isBlocked: Bool, into actions: inout DispatchActions) {
        outcomeFlow.publisherBlocked(isBlocked, at: latest.monotonic)
        noticeThatOutcomesAreTaken(into: &actions)
    }

    /// Lets outcomes that the publisher has wait in the registry as well, if the broker has taken no messages for too
    /// long.
    ///
    /// They arrive twice if this worker lives on, which their identifiers tell.
    mutating func abandonBlockedOutcomes(into actions: inout DispatchActions) {
        guard outcomeFlow.giveUp(at: latest.monotonic) else { return }
        var blocked: [UInt64] = []
        publishes.forEach { identifier, publish in
            if case .outcome = publish.kind { blocked.append(identifier) }
        }
        guard limits.storesOutcomes else { return outcomesStored(blocked, areKept: false, into: &actions) }
        for identifier in blocked {
            guard let message = publishes[identifier]?.message else { continue }
            actions.outcomesToStore.append(
                (identifier, WaitingOutcome(routingKey: message.routingKey, message: message.message)))
        }
    }

    /// The broker answered for an outcome.
    mutating func outcomeEnded(
        _ identifier: UInt64, _ publish: Publish, _ outcome: PublishOutcome, into actions: inout DispatchActions
    ) {
        switch outcome {
        case .confirmed:
            outcomeFlow.taken(at: latest.monotonic)
            actions.outcomesPublished += 1
            noticeThatOutcomesAreTaken(into: &actions)
        case .refused:
            if outcomeFlow.refused(at: latest.monotonic) == .publishAgain {
                return actions.publishesToRepeat.append(publish.message)
            }
            drop(1, outcome, into: &actions)
        case .returned:
            outcomeFlow.unroutable(at: latest.monotonic)
            drop(1, outcome, into: &actions)
        case .rejected: drop(1, outcome, into: &actions)
        }
        publishes.remove(identifier)
        copyEnded(of: publish.job, rejection: nil, into: &actions)
    }

    /// Drops outcomes.
    ///
    /// The first ones since outcomes were taken are worth a notice; while none is there to be dropped, nothing is said.
    private mutating func drop(_ count: Int, _ outcome: PublishOutcome, into actions: inout DispatchActions) {
        actions.outcomesDropped += count
        guard count > 0, outcomeFlow.isDropping, !areOutcomesDropped else { return }
        areOutcomesDropped = true
        actions.notices.append(.outcomesDropping(true, outcome))
    }

    private mutating func noticeThatOutcomesAreTaken(into actions: inout DispatchActions) {
        guard areOutcomesDropped, !outcomeFlow.isDropping else { return }
        areOutcomesDropped = false
        actions.notices.append(.outcomesDropping(false, .confirmed))
    }
}
