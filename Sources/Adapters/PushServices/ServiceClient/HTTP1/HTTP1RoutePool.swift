internal import EventLoop
internal import HTTPClient
import Notifications

/// The shell around one `HTTP1RouteMachine`: sends what it lets out, and keeps the requests that it knows by number.
///
/// Lives on the client's loop.
final class HTTP1RoutePool {
    private struct Sent {
        let request: PushRequest
        var submittedNanoseconds: UInt64 = 0
        var authorization = ConnectionAuthorization()
        var needsNewConnection = false
    }

    private let route: HTTP1Route
    private let destination: PostDestination
    private let index: Int
    private unowned let owner: HTTP1ClientCore
    private let adapter: any HTTP1Adapter
    private var machine: HTTP1RouteMachine
    private var log: HTTP1RouteLog
    private var authorization = RouteAuthorization()
    private var sent: [Sent?] = []
    private var lastFailure = ""
    private var reportedReachable: Bool?

    init(index: Int, route: HTTP1Route, log: HTTP1RouteLog, owner: HTTP1ClientCore, seed: UInt64) {
        self.index = index
        self.route = route
        self.owner = owner
        self.log = log
        destination = route.destination
        adapter = route.makeAdapter()
        machine = HTTP1RouteMachine(limits: route.limits, seed: seed)
    }

    /// Whether nothing is under way and nothing waits.
    var isIdle: Bool { machine.isIdle }

    /// When `tickEnded` has to be called, even if nothing happens.
    var dueNanoseconds: UInt64 { min(machine.wakeUpNanoseconds, authorization.recheckNanoseconds) }

    /// Has the authorization fetched, so that the first push finds it, and its problems show at the start.
    func start() { checkAuthorization(isNeeded: true, owner.loop.nowNanoseconds) }

    /// Takes in one push; the end of the tick sends it.
    func send(_ request: PushRequest, nowNanoseconds: UInt64) {
        guard let push = machine.arrived(nowNanoseconds: nowNanoseconds) else {
            let reason = machine.isClosing ? "the transport is closing" : "too many pushes wait for \(title)"
            log.notProcessed(1)
            return owner.report(
                AttemptResult(identifier: request.identifier, outcome: .notProcessed(reason), durationNanoseconds: 0))
        }
        if push == sent.count { sent.append(Sent(request: request)) } else { sent[push] = Sent(request: request) }
    }

    /// A push may take as long as this from now on; those that wait keep their time.
    func deadlineChanged(toNanoseconds deadline: UInt64) { machine.deadlineChanged(toNanoseconds: deadline) }

    /// The authorizer may have something new.
    func authorizationChanged() { authorization.mayHaveChanged() }

    /// Ends the pushes that wait; pushes under way may still be answered.
    func close() {
        machine.close()
        end(machine.abandonWaiting(), .notProcessed("the transport is closing"))
    }

    /// Does what has become due, and sends what can be sent.
    func tickEnded() {
        let now = owner.loop.nowNanoseconds
        let expired = machine.expired(nowNanoseconds: now)
        if !expired.isEmpty { end(expired, .notProcessed(waitedReason)) }
        checkAuthorization(isNeeded: machine.waitingCount > 0, now)
        if machine.beginsProbe(nowNanoseconds: now) { probe() }
        submitWaiting(now)
        log.sizes(inFlight: machine.inFlightCount, waiting: machine.waitingCount)
        reportReachability()
    }

    private var title: String { route.service.title }

    private var waitedReason: String {
        let details = authorization.absence ?? lastFailure
        return "no request to \(title) could begin in time" + (details.isEmpty ? "" : "; \(details)")
    }

    // MARK: Authorization

    private func checkAuthorization(isNeeded: Bool, _ nowNanoseconds: UInt64) {
        guard !machine.isClosing, authorization.isDue(isNeeded: isNeeded, nowNanoseconds: nowNanoseconds) else {
            return
        }
        take(route.authorizer.authorization())
    }

    private func take(_ state: AuthorizationState) {
        if let problem = authorization.answered(state).problem { log.authorizationMissing(reason: problem) }
    }

    private func endHopeless() {
        guard let outcome = authorization.waitingOutcome else { return }
        end(machine.abandonWaiting(), outcome)
    }

    // MARK: Requests

    private func submitWaiting(_ nowNanoseconds: UInt64) {
        guard machine.waitingCount > 0 else { return }
        guard let current = authorization.current else { return endHopeless() }
        while let push = machine.next() { submit(push, current, nowNanoseconds) }
    }

    private func submit(_ push: Int, _ authorization: Authorization, _ nowNanoseconds: UInt64) {
        guard let request = sent[push]?.request else { return machine.ended(push) }
        sent[push]?.submittedNanoseconds = nowNanoseconds
        sent[push]?.authorization.sent(authorization.generation)
        var post = adapter.request(
            for: request, authorization: authorization.headerValue, destination: destination,
            nowSeconds: WallClock.nowMilliseconds() / 1_000)
        post.timeoutNanoseconds = machine.limits.deadlineNanoseconds
        post.needsNewConnection = sent[push]?.needsNewConnection ?? false
        owner.post(post) { [self] outcome in
            ended(push, outcome)
            owner.touch()
        }
    }

    private func ended(_ push: Int, _ outcome: PostOutcome) {
        switch outcome {
        case .answered(let answer): answered(push, answer)
        case .notSent(let failure) where failure.kind == .requestInvalid:
            // Sending it again would end in the same way.
            machine.ended(push)
            report(push, .answered(PushAnswer(status: 400, reason: "the request is invalid: \(failure.description)")))
        case .notSent(let failure):
            lastFailure = failure.description
            log.failed(failure.description)
            guard machine.notSent(push, nowNanoseconds: owner.loop.nowNanoseconds) == .ends else { return }
            log.notProcessed(1)
            report(push, .notProcessed(failure.description))
        case .ambiguous(let failure):
            machine.ended(push)
            log.ambiguous(failure)
            report(push, .ambiguous(failure.description))
        }
    }

    private func answered(_ push: Int, _ answer: PostAnswer) {
        guard let entry = sent[push] else { return machine.answered(push) }
        if answer.isOnNewConnection { log.connected() }
        var full = adapter.answer(answer, to: entry.request, nowSeconds: WallClock.nowMilliseconds() / 1_000)
        if full.status != 200, full.explanation == nil {
            full.explanation = answer.field(PartialAnswer.explanationField).flatMap { ServiceExplanation.text($0) }
        }
        let meaning = adapter.meaning(of: full).union(.ofHTTP(full.status))
        if meaning.contains(.authorizationExpired), isRenewed(after: entry.authorization, meaning) {
            log.authorizationRefused(reason: full.reason)
            if machine.answeredUnprocessed(push) == .waits { return }
        } else if meaning.contains(.misdirected) {
            sent[push]?.needsNewConnection = true
            if machine.answeredUnprocessed(push) == .waits { return }
        } else {
            machine.answered(push)
        }
        report(push, .answered(full))
    }

    /// Whether another authorization can be had than the one that was refused.
    private func isRenewed(after refused: ConnectionAuthorization, _ meaning: AnswerMeaning) -> Bool {
        let renewed = route.authorizer.authorizationExpired(generation: refused.generation)
        take(renewed)
        return RouteAuthorization.isWorthAnotherTry(meaning, on: refused, renewed: renewed)
    }

    // MARK: Probes

    private func probe() {
        owner.probe(destination) { [self] failure in
            machine.probed(isSuccess: failure == nil, nowNanoseconds: owner.loop.nowNanoseconds)
            if let failure, failure.kind != .closed {
                lastFailure = failure.description
                log.failed(failure.description)
            }
            owner.touch()
        }
    }

    /// Says whether the route leads to its push service, when that changes.
    private func reportReachability() {
        guard !machine.isClosing else { return }
        let isReachable = authorization.isUnavailable ? false : machine.isReachable
        guard let isReachable, isReachable != reportedReachable else { return }
        reportedReachable = isReachable
        owner.routeChanged(RouteChange(route: index, isReachable: isReachable))
    }

    // MARK: Results

    private func end(_ pushes: [Int], _ outcome: AttemptOutcome) {
        if case .notProcessed = outcome { log.notProcessed(pushes.count) }
        for push in pushes { report(push, outcome) }
    }

    private func report(_ push: Int, _ outcome: AttemptOutcome) {
        guard let entry = sent[push] else { return }
        sent[push] = nil
        let now = owner.loop.nowNanoseconds
        let duration = entry.submittedNanoseconds == 0 ? 0 : now &- min(now, entry.submittedNanoseconds)
        owner.report(
            AttemptResult(identifier: entry.request.identifier, outcome: outcome, durationNanoseconds: duration))
    }
}
