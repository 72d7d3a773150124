public import ChangeEvents
public import Essentials
public import Messages
public import Notifications
public import RegistryCore

extension DispatchStateMachine {
    /// The broker answered for a message that was to be published.
    public mutating func publishEnded(
        _ identifier: UInt64, _ outcome: PublishOutcome, into actions: inout DispatchActions
    ) {
        // A publish that is repeated may be answered once more after it has ended.
        guard let publish = publishes[identifier] else { return }
        if case .outcome = publish.kind { return outcomeEnded(identifier, publish, outcome, into: &actions) }
        noteCopy(publish, outcome, into: &actions)
        switch outcome {
        case .confirmed:
            publishes.remove(identifier)
            publishConfirmed(publish, into: &actions)
        case .returned(let text): publishRefused(publish, text, into: &actions)
        case .rejected(let text):
            publishes.remove(identifier)
            publishRejected(publish, text, into: &actions)
        case .refused:
            publishRefused(
                publish, "the broker refused it (basic.nack): the queue is full, or has just lost its leader",
                into: &actions)
        }
    }

    private func noteCopy(_ publish: Publish, _ outcome: PublishOutcome, into actions: inout DispatchActions) {
        if case .chunk = publish.kind { return }
        guard let event = jobs[publish.job]?.work.event, event.trace?.isRecorded == true else { return }
        actions.copies.append(
            .init(
                tag: event.delivery.tag, queue: publish.message.routingKey, reason: publish.reason, outcome: outcome,
                begun: publish.begun))
    }

    private func publishRefused(_ publish: Publish, _ reason: String, into actions: inout DispatchActions) {
        actions.publishesToRepeat.append(publish.message)
        actions.notices.append(
            .publishRefused(publish.message.message, queue: publish.message.routingKey, reason: reason))
    }

    private mutating func publishConfirmed(_ publish: Publish, into actions: inout DispatchActions) {
        if case .failure(let destination, let app, let pushes) = publish.kind {
            let index = app ?? pushCounts.count - 1
            leave(pushes, index)
            switch destination {
            case .retry: pushCounts[index].requeuedForRetry += pushes
            case .deadLetter:
                pushCounts[index].deadLettered += pushes
                if pushes == 0 { eventsDeadLettered += 1 }
                actions.notices.append(
                    .deadLettered(publish.message.message, reason: publish.reason, detail: publish.detail))
            case .fanOut: break
            }
        }
        if case .chunk = publish.kind { return actions.chunksConfirmed.append(publish.job) }
        copyEnded(of: publish.job, rejection: nil, into: &actions)
    }

    /// The broker finally refuses a copy, so publishing it again gains nothing.
    ///
    /// The delivery is rejected when the rest of its job has ended; then the broker itself makes a dead letter of the
    /// original. A replay repeats pushes and requeued parts of it.
    private mutating func publishRejected(_ publish: Publish, _ reason: String, into actions: inout DispatchActions) {
        var detail = "RabbitMQ takes no copy for \(publish.message.routingKey), now or later: \(reason)."
        if !publish.reason.isEmpty { detail += " The copy's reason was \(publish.reason). \(publish.detail)" }
        switch publish.kind {
        case .chunk:
            actions.plansRejected[publish.job] = detail
        case .continuation, .outcome:
            copyEnded(of: publish.job, rejection: detail, into: &actions)
        case .failure(let destination, let app, let pushes):
            let index = app ?? pushCounts.count - 1
            leave(pushes, index)
            pushCounts[index].deadLettered += pushes
            if pushes == 0 { eventsDeadLettered += 1 }
            if case .retry = destination { retriesRejected(publish, into: &actions) }
            copyEnded(of: publish.job, rejection: detail, into: &actions)
        }
    }

    mutating func copyEnded(of number: UInt64, rejection: String?, into actions: inout DispatchActions) {
        jobs.modify(number) { job in
            job.publishesOut -= 1
            assert(job.publishesOut >= 0, "a copy of the job ended, and none was out")
            job.rejection = job.rejection ?? rejection
        }
        jobAdvanced(number, into: &actions)
    }

    /// Defers a delivery of a large fan-out that has not begun: the pushes of its app hang, or it is paused.
    ///
    /// - Parameters:
    ///   - tag: the delivery.
    ///   - message: its message.
    ///   - retryState: its history.
    ///   - cause: `congested` or `paused`.
    ///   - now: when it is.
    ///   - actions: receives the actions.
    /// - Returns: whether it is requeued; if not, its attempts are spent, and it stays where it is.
    public mutating func deferDelivery(
        _ tag: DeliveryTag, message: Message, retryState: RetryState, _ cause: Disposition.RetryCause,
        at now: Moment, into actions: inout DispatchActions
    ) -> Bool {
        var history = retryState
        // An event that has expired is reported when it is served; until then it must not block others either.
        history.expiresAt = nil
        latest = now
        let decision = policy.decide(cause, retryAfterSeconds: nil, retryState: history, at: now.wall)
        guard case .retry(let delay) = decision else { return false }
        move(
            tag, message, retryState,
            Failure(
                destination: .retry(delayMilliseconds: delay), reason: cause.rawValue,
                detail: "Waits \(delay) ms, because its app is "
                    + (cause == .paused ? "paused" : "not answered") + "; no attempt is spent.",
                attempt: retryState.attempt, deferredMilliseconds: delay, deviceIDs: []), into: &actions)
        return true
    }

    /// How often a part of a large fan-out may go from a work queue to the fan-out queue without being served.
    ///
    /// One hop is the rule: deferred and replayed parts come back through a work queue. More often it comes only if
    /// something outside of Apus moves messages from the fan-out queue to a work queue, a shovel for example. Without a
    /// limit they would circle as fast as the broker can carry them.
    public static let hopsMaximum = 3

    /// Moves a part of a large fan-out from a work queue to the fan-out queue, or after too many hops to the dead
    /// letters.
    ///
    /// It is there because it was deferred, or because an operator replayed it.
    public mutating func bulkDeliveryInWorkQueue(
        _ tag: DeliveryTag, message: Message, retryState: RetryState, into actions: inout DispatchActions
    ) {
        var retryState = retryState
        retryState.hops += 1
        guard retryState.hops <= Self.hopsMaximum else {
            let detail = """
                A part of a large fan-out came from a work queue \(retryState.hops) times and was never served: \
                expected at most \(Self.hopsMaximum). Remove what moves messages from \(queues.fanout) to a work \
                queue, for example a shovel, then replay it.
                """
            return move(
                tag, message, retryState,
                Failure(
                    destination: .deadLetter, reason: "misrouted", detail: detail, attempt: retryState.attempt,
                    deviceIDs: []), into: &actions)
        }
        move(
            tag, message, retryState,
            Failure(
                destination: .fanOut, reason: "fan-out", detail: "A part of a large fan-out that has waited.",
                attempt: retryState.attempt, deviceIDs: []), into: &actions)
    }

    private mutating func move(
        _ tag: DeliveryTag, _ message: Message, _ retryState: RetryState, _ failure: Failure,
        into actions: inout DispatchActions
    ) {
        let work = DispatchJob(
            tags: [tag], message: message, retryState: retryState, identity: PushIdentity(source: "", identifier: ""),
            renderings: [], devices: [])
        var job = Job(work: work)
        job.failures = [failure]
        jobAdvanced(jobs.insert { _ in job }, into: &actions)
    }

    /// Asks for the rest of an audience to be published as a job of its own, before this page is done.
    mutating func publishContinuation(
        _ cursor: AudienceCursor, of number: UInt64, into actions: inout DispatchActions
    ) {
        let work = work(of: number)
        var retryState = work.retryState
        retryState.hops = 0
        retryState.cursor = cursor
        let copy = retryState.requeuedCopy(
            of: work.message, reason: "fan-out", detail: "The rest of a large audience, in pages.")
        jobs.modify(number) { $0.publishesOut += 1 }
        publish(copy, to: queues.fanout, job: number, .continuation, reason: "fan-out", detail: "", into: &actions)
    }

    /// A chunk of a large fan-out is to be published.
    ///
    /// - Parameters:
    ///   - chunk: the chunk.
    ///   - plan: the plan that the chunk belongs to; comes back in `DispatchActions.chunksConfirmed`.
    ///   - message: the message of the event.
    ///   - retryState: the history of the event.
    ///   - actions: receives the actions.
    public mutating func chunkPlanned(
        _ chunk: FanOutChunkJob, of plan: UInt64, message: Message, retryState: RetryState,
        into actions: inout DispatchActions
    ) {
        var retryState = retryState
        retryState.hops = 0
        retryState.cursor = chunk.chunk.after
        retryState.chunk = chunk
        let copy = retryState.requeuedCopy(
            of: message, reason: "fan-out", detail: "Chunk \(chunk.chunk.number) of the large fan-out \(chunk.fanOut).")
        publish(copy, to: queues.fanout, job: plan, .chunk, reason: "fan-out", detail: "", into: &actions)
    }

    /// Requeues the failures of a job when its last push has ended, and settles it when nothing is left.
    mutating func jobAdvanced(_ number: UInt64, into actions: inout DispatchActions) {
        let ended = jobs.modify(number) { job -> (failures: [Failure], pushes: [EndedPush], expiredCount: Int)? in
            guard job.isSent else { return nil }
            defer {
                job.failures = []
                job.endedPushes = []
                job.expiredCount = 0
            }
            return (job.failures, job.endedPushes, job.expiredCount)
        }
        guard let ended else { return }
        for failure in ended.failures {
            requeue(failure, of: number, into: &actions)
            noteLag(of: failure, work(of: number), into: &actions)
        }
        if ended.expiredCount > 0 {
            let work = work(of: number)
            let end = max(latest.wall, work.retryState.expiresAt ?? latest.wall)
            actions.lags.append(.init(milliseconds: work.lag(at: end), count: ended.expiredCount))
        }
        if !ended.pushes.isEmpty, let event = work(of: number).event {
            publishOutcomes(of: ended.pushes, event, job: number, into: &actions)
        }
        if jobs.modify(number, { $0.publishesOut == 0 }) { settle(jobs.remove(number), into: &actions) }
    }

    /// Pushes that wait for a retry are late, however soon they were tried; but not if an operator wants them to wait.
    private func noteLag(of failure: Failure, _ work: DispatchJob, into actions: inout DispatchActions) {
        guard case .retry(let delay) = failure.destination, !work.devices.isEmpty,
            failure.reason != Disposition.RetryCause.paused.rawValue
        else { return }
        let next = latest.wall.advanced(byMilliseconds: delay)
        actions.lags.append(.init(milliseconds: work.lag(at: next), count: failure.deviceIDs.count))
    }

    private mutating func settle(_ job: Job, into actions: inout DispatchActions) {
        let work = job.work
        actions.deadTokens += job.deadTokens
        actions.outcomesRestored += job.restoredOutcomes
        if let app = job.backlogApp { health.deliveriesSettled(work.tags.count, app: app, at: latest.monotonic) }
        var rejection = job.rejection
        if let number = job.group {
            let group = groups.modify(number) { group in
                group.partsLeft -= 1
                group.rejection = group.rejection ?? job.rejection
                return group
            }
            guard group.partsLeft == 0 else { return }
            groups.remove(number)
            rejection = group.rejection
        }
        if let detail = rejection {
            if let chunk = work.chunk { actions.chunksRejected[chunk] = detail }
            if !work.tags.isEmpty {
                actions.rejections.append(.init(tags: work.tags, message: work.message, detail: detail))
            }
        } else {
            actions.settles.append(contentsOf: work.tags)
        }
        if let dataset = work.dataset { actions.datasetsSettled.append(dataset) }
        if let chunk = work.chunk { actions.chunkPagesEnded.append(chunk) }
    }

    private mutating func requeue(_ failure: Failure, of number: UInt64, into actions: inout DispatchActions) {
        let work = work(of: number)
        var rest = failure.deviceIDs[...]
        var copies: [(message: Message, pushes: Int)] = []
        repeat {
            let part = rest.prefix(limits.devicesPerRequeuedMessageMaximum)
            rest = rest.dropFirst(part.count)
            var retryState = work.retryState
            retryState.attempt = failure.attempt
            if failure.destination != .fanOut { retryState.hops = 0 }
            retryState.deferredMilliseconds += failure.deferredMilliseconds
            if !part.isEmpty {
                retryState.cursor = nil
                retryState.chunk = nil
                retryState.deviceIDs = Array(part)
            }
            var copy = retryState.requeuedCopy(of: work.message, reason: failure.reason, detail: failure.detail)
            if failure.destination == .deadLetter { copy.headers += deadLetterHeaders(failure) }
            copies.append((copy, work.devices.isEmpty || !failure.areMatched ? 0 : part.count))
        } while !rest.isEmpty
        jobs.modify(number) { $0.publishesOut += copies.count }
        for copy in copies {
            publish(
                copy.message, to: queue(failure.destination), job: number,
                .failure(failure.destination, appIndex: failure.appIndex, pushes: copy.pushes),
                reason: failure.reason, detail: failure.detail, into: &actions)
        }
    }

    private func deadLetterHeaders(_ failure: Failure) -> [MessageHeader] {
        let time = MessageHeader(RetryHeader.deadLetteredMilliseconds, .int64(latest.wall.milliseconds))
        guard let app = failure.app else { return [time] }
        return [time, MessageHeader(RetryHeader.app, .string(app))]
    }

    private func queue(_ destination: Destination) -> String {
        switch destination {
        case .retry(let delay):
            guard let queue = queues.retry[delay] else {
                preconditionFailure("the delay of \(delay) ms has no queue, which the initialiser checked")
            }
            return queue
        case .deadLetter: return queues.deadLetter
        case .fanOut: return queues.fanout
        }
    }

    private mutating func publish(
        _ message: Message, to queue: String, job: UInt64, _ kind: Publish.Kind, reason: String, detail: String,
        into actions: inout DispatchActions
    ) {
        publish(
            OutgoingMessage(identifier: 0, exchange: "", routingKey: queue, message: message), job: job, kind,
            reason: reason, detail: detail, into: &actions)
    }

    mutating func publish(
        _ message: OutgoingMessage, job: UInt64, _ kind: Publish.Kind, reason: String, detail: String,
        into actions: inout DispatchActions
    ) {
        actions.publishes.append(awaiting(message, job: job, kind, reason: reason, detail: detail))
    }

    /// Lets a job wait for a message.
    ///
    /// - Returns: the message with its number.
    mutating func awaiting(
        _ message: OutgoingMessage, job: UInt64, _ kind: Publish.Kind, reason: String = "", detail: String = ""
    ) -> OutgoingMessage {
        var outgoing = message
        _ = publishes.insert { identifier in
            outgoing.identifier = identifier
            return Publish(
                job: job, kind: kind, message: outgoing, reason: reason, detail: detail, begun: latest.monotonic)
        }
        return outgoing
    }
}
