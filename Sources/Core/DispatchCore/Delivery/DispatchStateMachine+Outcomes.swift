import ChangeEvents
import Essentials
import Messages
import Notifications

/// The outcomes that backends receive for their pushes.
///
/// A job ends only when the broker has confirmed its outcomes, or refused them for so long that they are dropped.
extension DispatchStateMachine {
    /// Publishes the outcomes of pushes, which a job then waits for.
    mutating func publishOutcomes(
        of pushes: [EndedPush], _ event: DecodedEvent, job number: UInt64, into actions: inout DispatchActions
    ) {
        publishOutcomes(
            OutcomeMessage(event: OutcomeEvent(event), exchange: queues.outcomes).messages(pushes, at: latest.wall),
            job: number, into: &actions)
    }

    /// Publishes that an event ended as a whole, before its devices were known; its job waits for that.
    mutating func publishOutcome(
        ofWhole event: OutcomeEvent, _ kind: OutcomeKind, apps: [String], reason: String, job number: UInt64,
        into actions: inout DispatchActions
    ) {
        let outcome = OutcomeMessage(event: event, exchange: queues.outcomes)
        publishOutcomes(
            apps.map { outcome.message(ofWhole: kind, app: $0, reason: reason, at: latest.wall) }, job: number,
            into: &actions)
    }

    private mutating func publishOutcomes(
        _ messages: [(routingKey: String, message: Message)], job number: UInt64, into actions: inout DispatchActions
    ) {
        guard !messages.isEmpty else { return }
        guard outcomeFlow.mayPublish(at: latest.monotonic) else {
            return drop(messages.count, .returned("RabbitMQ takes no messages"), into: &actions)
        }
        jobs.modify(number) { $0.publishesOut += messages.count }
        for (routingKey, message) in messages {
            publish(
                OutgoingMessage(
                    identifier: 0, exchange: queues.outcomes, routingKey: routingKey, message: message,
                    isOptional: true),
                job: number, .outcome, reason: "", detail: "", into: &actions)
        }
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

    /// Lets deliveries end without their outcomes if the broker has taken no messages for too long.
    ///
    /// The publisher still has these outcomes, so they may arrive later.
    mutating func abandonBlockedOutcomes(into actions: inout DispatchActions) {
        guard outcomeFlow.giveUp(at: latest.monotonic) else { return }
        var blocked: [(identifier: UInt64, job: UInt64)] = []
        publishes.forEach { identifier, publish in
            if case .outcome = publish.kind { blocked.append((identifier, publish.job)) }
        }
        drop(blocked.count, .returned("RabbitMQ takes no messages"), into: &actions)
        for (identifier, job) in blocked {
            publishes.remove(identifier)
            copyEnded(of: job, rejection: nil, into: &actions)
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
