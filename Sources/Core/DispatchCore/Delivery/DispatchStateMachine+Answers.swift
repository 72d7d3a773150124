import ChangeEvents
public import Essentials
public import Notifications
import RegistryCore

/// The outcome of a push when its attempt has ended.
extension DispatchStateMachine {
    /// Attempts of pushes ended.
    ///
    /// - Parameters:
    ///   - results: how they ended.
    ///   - now: when it is.
    ///   - actions: receives the actions.
    ///   - ended: called with each result, the app of its push by its place in the configuration, and the trace of its
    ///     event if it is recorded.
    mutating func pushesEnded(
        _ results: [AttemptResult], at now: Moment, into actions: inout DispatchActions,
        each ended: (AttemptResult, Int, APNsIdentifier, EventTrace?) -> Void
    ) {
        latest = now
        for result in results {
            if let (push, trace) = end(result, into: &actions) { ended(result, push.app, push.apnsID, trace) }
        }
        reportHealth(into: &actions)
    }

    /// An attempt of a push ended.
    public mutating func pushEnded(_ result: AttemptResult, at now: Moment, into actions: inout DispatchActions) {
        latest = now
        _ = end(result, into: &actions)
        reportHealth(into: &actions)
    }

    /// Ends an attempt.
    ///
    /// - Returns: its push, and the trace of its event if it is recorded; nil if there is no such push.
    private mutating func end(
        _ result: AttemptResult, into actions: inout DispatchActions
    ) -> (push: Push, trace: EventTrace?)? {
        // A push that was answered twice has ended with the first answer.
        guard var push = pushes[result.identifier] else { return nil }
        let app = push.app
        if result.outcome.isAnswered {
            health.pushWasAnswered(app: app, at: latest.monotonic)
            if push.asksService { health.services.pushWasAnswered(app: app, at: latest.monotonic) }
        }
        guard push.job != Push.abandoned else {
            pushes.remove(result.identifier)
            if push.asksService { health.services.pushEnded(app: app, at: latest.monotonic) }
            sendQueues[Self.sendQueueIndex(of: .interactive)].pushEnded(app: app)
            // The job has ended without this push, but APNs has accepted it: the device was told.
            let told = announcementsOfAbandonedPushes.removeValue(forKey: result.identifier)
            if let told, Self.isAccepted(result) { actions.told.append(told) }
            return (push, nil)
        }
        let work = work(of: push.job)
        let disposition = Disposition(result.outcome, of: work.renderings[push.rendering].app.service)
        let trace = noteAttempt(push, work, result, disposition, into: &actions)
        if push.asksService {
            noteKey(disposition, push, work)
            if work.deliveryClass == .bulk, result.outcome.isAnswered {
                bulkWindow.pushEnded(
                    afterNanoseconds: result.durationNanoseconds, isRestricted: isBulkRestricted, at: latest.monotonic)
            }
        }
        // There may be nowhere to send it; then it waits in a queue rather than here.
        if disposition.asksForResend, maySendAgain(push, work), mayResend(disposition, &push, work) {
            push.sent = latest.monotonic
            pushes.modify(result.identifier) { $0 = push }
            actions.sends.append(request(result.identifier, push, work))
            return (push, trace)
        }
        pushes.remove(result.identifier)
        if push.asksService { health.services.pushEnded(app: app, at: latest.monotonic) }
        sendQueues[Self.sendQueueIndex(of: work.deliveryClass)].pushEnded(app: app)
        let ending = settle(disposition, result.outcome, push, work, into: &actions)
        noteExplanation(disposition, result.outcome, push, work, into: &actions)
        if case .answered(let answer) = result.outcome, let successor = answer.successor {
            remove(deadToken(of: push, work, since: nil, successor: successor), of: push, work, into: &actions)
        }
        let isSent = jobs.modify(push.job) { job in
            job.pushesOut -= 1
            assert(job.pushesOut >= 0, "a push of the job ended, and none was out")
            job.ended(push.device, ending, push: push, rendering: push.rendering, at: latest.wall)
            return job.isSent
        }
        if isSent { jobAdvanced(push.job, into: &actions) }
        return (push, trace)
    }

    /// Notes an attempt for the spans of its event.
    ///
    /// - Returns: the trace of the event; nil if it is not recorded.
    private func noteAttempt(
        _ push: Push, _ work: DispatchJob, _ result: AttemptResult, _ disposition: Disposition,
        into actions: inout DispatchActions
    ) -> EventTrace? {
        guard let event = work.event, let trace = event.trace, trace.isRecorded else { return nil }
        let route = work.renderings[push.rendering].app
        actions.attempts.append(
            (
                event.delivery.tag,
                PushAttempt(
                    service: route.service, app: route.name, apnsID: push.apnsID, number: push.sends,
                    outcome: result.outcome, disposition: disposition, durationNanoseconds: result.durationNanoseconds)
            ))
        return trace
    }

    private static func isAccepted(_ result: AttemptResult) -> Bool {
        if case .answered(let answer) = result.outcome { answer.status == 200 } else { false }
    }

    /// The work of a job that is not settled.
    func work(of number: UInt64) -> DispatchJob {
        guard let job = jobs[number] else { preconditionFailure("job \(number) is asked for, and was settled before") }
        return job.work
    }

    private func maySendAgain(_ push: Push, _ work: DispatchJob) -> Bool {
        health.maySendAgain(
            work.devices[push.device].token, app: push.app, route: push.route, asksService: push.asksService)
    }

    private func mayResend(_ disposition: Disposition, _ push: inout Push, _ work: DispatchJob) -> Bool {
        if work.retryState.hasExpired(nowMilliseconds: latest.wall.milliseconds) { return false }
        switch disposition {
        case .resend:
            push.sends += 1
            return push.sends <= limits.sendsPerAttemptMaximum
        case .resendPossibleDuplicate:
            push.sends += 1
            push.ambiguousSends += 1
            return push.ambiguousSends < limits.ambiguousSendsPerAttemptMaximum
        default: return false
        }
    }

    /// Notes that the push service has accepted the app's credentials, if its answer shows that.
    ///
    /// An answer in the class of 5xx does not: it may come from a server before those that look at credentials. Nor
    /// does the refusal of a browser's subscription that was made with another key.
    private mutating func noteKey(_ disposition: Disposition, _ push: Push, _ work: DispatchJob) {
        switch disposition {
        case .accepted, .tokenDead: break
        case .tokenRejected where work.renderings[push.rendering].app.service != .webPush: break
        default: return
        }
        if health.isKeyAcceptanceKnown(app: push.app, route: push.route, at: latest.monotonic) { return }
        health.keyWasAccepted(
            work.devices[push.device].token, app: push.app, route: push.route, at: latest.monotonic)
    }

    /// Draws the consequence from how an attempt ended.
    ///
    /// - Returns: how the push ended.
    private mutating func settle(
        _ disposition: Disposition, _ outcome: AttemptOutcome, _ push: Push, _ work: DispatchJob,
        into actions: inout DispatchActions
    ) -> PushEnding {
        let device = push.device
        let app = push.app
        switch disposition {
        case .accepted:
            noteGoodToken(push, work, isAccepted: true)
            end(app: app) { $0.accepted += 1 }
            actions.lags.append(.init(milliseconds: work.lag(at: latest.wall), apnsID: push.apnsID))
            if let announcement = work.announcement {
                actions.told.append((work.devices[device].deviceID, announcement))
            }
            return .accepted
        case .tokenDead(let since):
            noteGoodToken(push, work, isAccepted: false)
            end(app: app) { $0.tokenDead += 1 }
            remove(deadToken(of: push, work, since: since), of: push, work, into: &actions)
            let reason = if case .answered(let answer) = outcome { answer.reason } else { "" }
            return .tokenDead(reason: reason, isRemoved: work.devices[device].isRemoved(ifDeadSince: since))
        case .tokenRejected(let reason):
            return tokenRejected(push, work, reason, into: &actions)
        case .deadLetter(let reason):
            let service = work.renderings[push.rendering].app.service.title
            let detail =
                "\(service) answered \(reason), which stays so for this push: correct the event or the configuration."
                + explained(outcome, push, work)
            return .failed(failure(device, work, app: app, .deadLetter, reason, detail))
        case .retry(let cause, let after):
            let explanation = explained(outcome, push, work)
            return retry(device, work, app: app, cause, afterSeconds: after, explanation: explanation)
        case .resend where health.isPaused(app: app): return retry(device, work, app: app, .paused)
        case .resend, .resendPossibleDuplicate:
            let token = work.devices[device].token
            if disposition == .resend, push.asksService,
                let deferral = health.credentialDeferral(of: token, app: app, route: push.route)
            {
                // It waited while the credentials were found to be wrong; nothing of it is spent.
                return retry(device, work, app: app, deferral)
            }
            // One that was certainly not processed is not to blame.
            let isUnreachable = health.isUnreachable(route: push.route)
            let wasProcessed = disposition == .resendPossibleDuplicate && !isUnreachable
            return retry(device, work, app: app, wasProcessed ? .unanswered : .unreachable)
        case .keyRejected(let reason):
            let deferral = health.keyWasRejected(
                work.devices[device].token, app: app, route: push.route, reason: reason, at: latest.monotonic)
            return retry(device, work, app: app, deferral)
        }
    }

    private mutating func noteGoodToken(_ push: Push, _ work: DispatchJob, isAccepted: Bool) {
        guard push.asksService else { return }
        health.tokenWasGood(
            work.devices[push.device].token, app: push.app, route: push.route, kind: kind(of: push, work),
            hasOrigin: work.renderings[push.rendering].app.service == .webPush, isAccepted: isAccepted,
            sent: push.sent)
    }

    /// Which of the device's tokens a push goes to.
    private func kind(of push: Push, _ work: DispatchJob) -> TokenKind {
        work.renderings[push.rendering].sendable.pushType.tokenKind
    }

    private mutating func tokenRejected(
        _ push: Push, _ work: DispatchJob, _ reason: String, into actions: inout DispatchActions
    ) -> PushEnding {
        let app = push.app
        let verdict = health.tokenWasBad(
            work.devices[push.device].token, app: app, route: push.route, kind: kind(of: push, work), reason: reason,
            sent: push.sent, at: latest.monotonic)
        switch verdict {
        case .dead:
            end(app: app) { $0.tokenDead += 1 }
            remove(deadToken(of: push, work, since: nil), of: push, work, into: &actions)
            let isRemoved = work.devices[push.device].isRemoved(ifDeadSince: nil)
            return .tokenDead(reason: reason, isRemoved: isRemoved)
        case .deferPush(let seconds):
            return retry(push.device, work, app: app, .suspectConfiguration, afterSeconds: seconds)
        }
    }

    /// Has a dead token removed from the registry: when its job has ended, if a backend is to hear of it.
    ///
    /// Otherwise a worker that is killed before it has told would not find the device again.
    private mutating func remove(
        _ token: DeadToken, of push: Push, _ work: DispatchJob, into actions: inout DispatchActions
    ) {
        guard work.renderings[push.rendering].app.outcomes.contains(.tokenDead) else {
            return actions.deadTokens.append(token)
        }
        jobs.modify(push.job) { $0.deadTokens.append(token) }
    }

    /// A push has to wait, for the reason of a deferral.
    mutating func retry(_ device: Int, _ work: DispatchJob, app: Int, _ deferral: AppHealth.Deferral) -> PushEnding {
        retry(device, work, app: app, deferral.cause, afterSeconds: deferral.afterSeconds)
    }

    /// A push is to be tried again, if it has the time and the attempts.
    ///
    /// - Returns: how it ended: it is requeued, or has expired, because it would have lost its use by then.
    mutating func retry(
        _ device: Int, _ work: DispatchJob, app: Int, _ cause: Disposition.RetryCause, afterSeconds: Int? = nil,
        explanation: String = ""
    ) -> PushEnding {
        let decision =
            work.expiresImmediately
            ? .expired
            : policy.decide(cause, retryAfterSeconds: afterSeconds, retryState: work.retryState, at: latest.wall)
        if cause.blamesService { health.services.pushFailed(app: app, cause) }
        switch decision {
        case .retry(let delay):
            let attempt = work.retryState.attempt + (cause.consumesAttempt ? 1 : 0)
            let detail =
                cause.consumesAttempt
                ? "Waits \(delay) ms; attempt \(attempt) of \(policy.attemptsMaximum) is spent."
                : "Waits \(delay) ms; no attempt is spent."
            return .failed(
                failure(
                    device, work, app: app, .retry(delayMilliseconds: delay), cause.rawValue, detail,
                    attempt: attempt, deferredMilliseconds: cause.isOutage ? delay : 0))
        case .expired:
            end(app: app) { $0.expired += 1 }
            return .expired
        case .exhausted(let reason):
            return .failed(
                failure(
                    device, work, app: app, .deadLetter, reason,
                    "The last cause was \(cause.rawValue), after \(work.retryState.attempt + 1) attempts." + explanation
                ))
        }
    }

    mutating func end(app: Int, _ count: (inout PushCounts) -> Void) {
        leave(1, app)
        count(&pushCounts[app])
    }

    /// Pushes of an app are in flight no more; they have to be counted as something else.
    mutating func leave(_ pushes: Int, _ app: Int) {
        pushCounts[app].inFlight -= pushes
        assert(pushCounts[app].inFlight >= 0, "more pushes of the app ended than were in flight")
    }

    /// How the push to a device failed; without its name, which the job adds.
    func failure(
        _ device: Int, _ work: DispatchJob, app: Int?, _ destination: Destination, _ reason: String, _ detail: String,
        attempt: Int? = nil, deferredMilliseconds: Int64 = 0
    ) -> Failure {
        Failure(
            destination: destination, reason: reason, detail: detail, attempt: attempt ?? work.retryState.attempt + 1,
            appIndex: app, app: work.devices[device].app, deferredMilliseconds: deferredMilliseconds)
    }

    private func deadToken(
        of push: Push, _ work: DispatchJob, since: Int64?, successor: DeviceToken? = nil
    ) -> DeadToken {
        let device = work.devices[push.device]
        return DeadToken(
            app: device.app, platform: device.platform, kind: kind(of: push, work), token: device.token,
            deadSinceMilliseconds: since, successor: successor)
    }
}
