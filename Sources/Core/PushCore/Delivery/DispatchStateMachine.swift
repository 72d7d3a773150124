public import Essentials
public import Notifications

/// The life of every delivery between its arrival and its acknowledgement: which pushes are out, what becomes of each,
/// what has to be parked first, and when the delivery may be settled.
///
/// A job (one page of one event's audience) goes through these states:
///
/// | state | means | can transition to |
/// |---|---|---|
/// | waiting | has devices that were not sent to yet | sent, when the last one was sent or ended |
/// | sent | waits for answers | parking, when the last push ended and some failed; settled, if none did |
/// | parking | waits for the broker to confirm its parked copies | settled, when the last one is confirmed |
/// | settled | its deliveries are acknowledged, or rejected if the broker takes a copy never | none: it is gone |
///
/// A push ends when APNs accepted it, its token is dead, its time has passed, or its parked copy is confirmed. Nothing
/// else lets go of a delivery, so whatever is lost on the way is still the broker's.
///
/// Methods are named after what happened; what is to be done is appended to `DispatchActions`. Time is an argument.
public struct DispatchStateMachine: Sendable {
    struct Job: Sendable {
        var work: DispatchJob
        var nextDevice = 0
        var pushesOut = 0
        var publishesOut = 0
        var failures: [Failure] = []
        /// The app under which its deliveries are counted; nil if they are not.
        var loadedApp: Int?
        /// Why the broker will never take a copy that its deliveries must not end without; nil if there is none such.
        var rejection: String?
    }

    /// Devices of one job that failed in the same way, and go into the same parked copies.
    struct Failure: Sendable {
        var destination: Destination
        var reason: String
        var detail: String
        var attempt: Int
        var appIndex: Int?
        /// The app of its devices; nil if the delivery failed as a whole.
        var app: String?
        /// How long it is held back for no fault of its own, which does not count as age.
        var heldMilliseconds: Int64 = 0
        var deviceIDs: [String]
    }

    enum Destination: Hashable, Sendable {
        case retry(delayMilliseconds: Int64)
        case deadLetter
        case fanOut
    }

    struct Push: Sendable {
        /// In place of its job's number, if the job waits for it no more.
        static let givenUp = UInt64.max

        var job: UInt64
        var device: Int
        var rendering: Int
        var app: Int
        var sent: MonotonicTime
        var sends = 1
        var ambiguousSends = 0
    }

    struct Publish: Sendable {
        enum Kind: Sendable {
            case failure(Destination, appIndex: Int?, pushes: Int)
            case continuation
            /// A chunk of the plan that `job` is the number of.
            case chunk
        }

        var job: UInt64
        var kind: Kind
        var message: OutgoingMessage
        var reason: String
        var detail: String
    }

    let policy: RetryPolicy
    let queues: DispatchQueues
    let limits: DispatchLimits
    var jobs = SlotTable<Job>()
    var pushes = SlotTable<Push>()
    var publishes = SlotTable<Publish>()
    /// The lane of small events and retries, and that of large fan-outs.
    var lanes: [DispatchLane]
    /// Whether there is more than one app to be fair to.
    let isShared: Bool
    var bulkWindow: BulkWindow
    var bulkPace = BulkPace()
    var loads: [AppLoad]
    var deliveriesInHand = 0
    /// How many deliveries of all apps have ended.
    var deliveriesEnded = 0
    /// When the pushes of slow apps were looked through last.
    var gaveUp: MonotonicTime?
    var routes = ReachableRoutes()
    /// What the clocks showed when they were read last.
    var latest = Moment(wall: .earliest, monotonic: MonotonicTime(nanoseconds: 0))
    /// When the last small event arrived.
    var workArrived: MonotonicTime?
    var breakers: [KeyBreaker]
    var watches: [BadTokenWatches]

    /// What became of the pushes, by app; the last entry is for devices whose app is not configured.
    public internal(set) var ledgers: [PushLedger]

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - appCount: how many apps are configured.
    ///   - policy: when failed pushes are tried again.
    ///   - queues: where parked messages go; has a retry queue for each delay of the policy.
    ///   - limits: the bounds.
    public init(appCount: Int, policy: RetryPolicy, queues: DispatchQueues, limits: DispatchLimits) {
        precondition(
            policy.delaysMilliseconds.allSatisfy { queues.retry[$0] != nil }, "each delay needs its retry queue")
        self.policy = policy
        self.queues = queues
        self.limits = limits
        lanes = Array(repeating: DispatchLane(appCount: appCount), count: 2)
        isShared = appCount > 1
        bulkWindow = BulkWindow(maximum: limits.pushesInFlightMaximum)
        loads = Array(repeating: AppLoad(), count: appCount)
        breakers = Array(repeating: KeyBreaker(), count: appCount)
        watches = Array(repeating: BadTokenWatches(), count: appCount)
        ledgers = Array(repeating: PushLedger(), count: appCount + 1)
    }

    // MARK: State

    /// How many jobs have not been settled.
    public var jobCount: Int { jobs.count }

    /// How many pushes are out.
    public var pushesInFlight: Int { pushes.count }

    /// Whether anything of an app waits to be sent in a lane.
    public func isWaiting(_ lane: DeliveryLane, app: Int) -> Bool {
        !lanes[Self.place(of: lane)].queue.isEmpty(flow: isShared ? app : 0)
    }

    /// Whether so much of a lane waits to be sent that no more of it is to be looked up.
    public func isSaturated(_ lane: DeliveryLane) -> Bool {
        // With one app nothing could overtake what waits. Fan-outs wait in the broker, where they cost nothing.
        guard lane == .work, isShared else { return !lanes[Self.place(of: lane)].queue.isEmpty }
        guard work.devicesWaiting >= limits.devicesWaitingMaximum else { return false }
        // What a slow app has waiting must not keep the others out; more of it is not taken in hand.
        let slow = loads.indices.reduce(0) { $0 + (loads[$1].isSlow ? work.devicesWaitingByFlow[$1] : 0) }
        return work.devicesWaiting - slow >= limits.devicesWaitingMaximum
    }

    /// The apps that hold more than their share and whose pushes hardly end, at this moment.
    public var slowApps: [Int] { loads.indices.filter { loads[$0].isSlow } }

    /// Whether no push for any app could reach the push service, as far as is known.
    public var isEverythingUnreachable: Bool { routes.isEverythingUnreachable }

    /// The apps whose key APNs does not accept at this moment.
    public var heldApps: [Int] { breakers.indices.filter { breakers[$0].state != .closed } }

    /// The apps most of whose tokens of some kind are called bad at this moment.
    public var doubtedApps: [Int] { watches.indices.filter { watches[$0].isAnyInDoubt } }

    // MARK: Work arrives

    /// A page of an audience is ready to be pushed to.
    ///
    /// - Returns: what becomes of it: it is held back if its app is slow and has more than its share in hand.
    @discardableResult
    public mutating func jobArrived(_ work: DispatchJob, into actions: inout DispatchActions) -> JobArrival {
        for device in work.devices.indices {
            let app = rendering(of: device, in: work).map { work.renderings[$0].app.index } ?? ledgers.count - 1
            ledgers[app].matched += 1
            ledgers[app].inFlight += 1
        }
        let continuation = work.continuation
        var job = Job(work: work)
        if work.lane == .work, !work.devices.isEmpty { workArrived = latest.monotonic }
        let isHeldBack = takeInHand(&job)
        let number = jobs.insert(job)
        if let continuation { publishContinuation(continuation, of: number, into: &actions) }
        var arrival = JobArrival.taken
        if isHeldBack {
            arrival = holdBack(number) ? .deferred : .ended
        } else if !work.devices.isEmpty {
            lanes[Self.place(of: work.lane)].waits(number, devices: work.devices.count, flow: flow(of: job))
            return .taken
        }
        jobAdvanced(number, into: &actions)
        return arrival
    }

    /// A delivery cannot be acted on: it goes to the dead letters as it is.
    ///
    /// - Parameters:
    ///   - tags: the deliveries that end with it; none for a chunk, which ends with the last of its pages.
    ///   - message: what goes to the dead letters.
    ///   - parking: its history.
    ///   - dataset: the dataset whose turn ends with it.
    ///   - chunk: the delivery of the chunk of which a page cannot be acted on.
    ///   - reason: the reason, as a word.
    ///   - detail: the reason, as a sentence.
    ///   - actions: takes what is to be done.
    public mutating func deliveryRejected(
        _ tags: [DeliveryTag], message: Message, parking: ParkingRecord, dataset: DatasetKey? = nil,
        chunk: DeliveryTag? = nil, reason: String, detail: String, into actions: inout DispatchActions
    ) {
        let work = DispatchJob(
            tags: tags, message: message, parking: parking, identity: PushIdentity(source: "", identifier: ""),
            renderings: [], devices: [], chunk: chunk, dataset: dataset)
        var job = Job(work: work)
        job.failures = [
            Failure(
                destination: .deadLetter, reason: reason, detail: detail, attempt: parking.attempt, appIndex: nil,
                deviceIDs: parking.deviceIDs ?? [])
        ]
        jobAdvanced(jobs.insert(job), into: &actions)
    }

    /// Pushes of an app were left out because a newer event says the same.
    public mutating func pushesCoalesced(_ count: Int, app: Int?) {
        let index = app ?? ledgers.count - 1
        ledgers[index].matched += count
        ledgers[index].coalesced += count
    }

    // MARK: Sending

    /// Sends to devices that wait, as far as the limit of pushes in flight allows.
    public mutating func sendWaiting(at now: Moment, into actions: inout DispatchActions) {
        latest = now
        lookAtLoads(into: &actions)
        sendWaiting(.work, window: limits.pushesInFlightMaximum, into: &actions)
        sendWaitingFanOuts(into: &actions)
    }

    mutating func sendNext(of job: inout Job, number: UInt64, into actions: inout DispatchActions) {
        let device = job.nextDevice
        job.nextDevice += 1
        guard let rendering = renderingOrFailure(of: device, &job) else { return }
        let app = job.work.renderings[rendering].app.index
        if job.work.parking.hasExpired(nowMilliseconds: latest.wall.milliseconds) {
            end(app: app) { $0.expired += 1 }
            return
        }
        let route = route(of: device, rendering, job.work)
        guard !routes.isUnreachable(route) else {
            retry(&job, device, app: app, .unreachable, afterSeconds: nil)
            return
        }
        guard !asksAPNs(device, job.work) || breakers[app].admits(at: latest.monotonic) else {
            retry(&job, device, app: app, .keyRejected, afterSeconds: nil)
            return
        }
        job.pushesOut += 1
        let push = pushes.insert(
            Push(job: number, device: device, rendering: rendering, app: app, sent: latest.monotonic))
        pushWentOut(job.work.lane, app: app)
        actions.sends.append(request(push, device, job.work, rendering))
        if let changed = job.work.changed, !job.work.parking.isParkedCopy {
            actions.lagsMilliseconds.append(max(0, latest.wall - changed))
        }
    }

    /// What a device is told; nil if that cannot be said, for which it has gone to the dead letters then.
    func renderingOrFailure(of device: Int, _ job: inout Job) -> Int? {
        if !job.work.assignments.isEmpty, let problem = job.work.assignments[device].problem {
            fail(&job, device, app: nil, .deadLetter, problem.reason.rawValue, problem.message)
            return nil
        }
        if let rendering = rendering(of: device, in: job.work) { return rendering }
        let name = job.work.devices[device].app
        let detail = "No app named \(name) is configured; add it as [[app]], or remove the device."
        fail(&job, device, app: nil, .deadLetter, "unknown-app", detail)
        return nil
    }

    private func request(_ push: UInt64, _ device: Int, _ work: DispatchJob, _ rendering: Int) -> PushRequest {
        let token = work.devices[device].token
        let subscription = work.assignments.isEmpty ? 0 : work.assignments[device].subscription
        let apnsID = work.identity.apnsID(for: token, subscription: subscription)
        return PushRequest(
            identifier: push, route: route(of: device, rendering, work),
            token: token, apnsID: apnsID, content: work.renderings[rendering].content)
    }

    func route(of device: Int, _ rendering: Int, _ work: DispatchJob) -> Int {
        let app = work.renderings[rendering].app
        return switch work.devices[device].platform {
        case .apnsSandbox: app.sandboxRoute
        case .web: app.webRoute
        // Nothing is sent to Google's devices: they are left out before.
        case .apns, .gcm: app.productionRoute
        }
    }

    /// Whether it is APNs that answers, and so tells something of the app's key and tokens.
    private func asksAPNs(_ device: Int, _ work: DispatchJob) -> Bool { work.devices[device].platform != .web }

    /// Which rendering is for the app of a device; nil if the app is not configured.
    func rendering(of device: Int, in work: DispatchJob) -> Int? {
        if !work.assignments.isEmpty { return work.assignments[device].rendering }
        return work.renderings.indices.first { work.renderings[$0].app.name == work.devices[device].app }
    }

    // MARK: Answers

    /// Attempts of pushes ended.
    ///
    /// - Parameters:
    ///   - results: how they ended.
    ///   - now: when it is.
    ///   - actions: takes what is to be done.
    ///   - ended: called with each result and the app of its push, by its place in the configuration.
    public mutating func pushesEnded(
        _ results: [PushResult], at now: Moment, into actions: inout DispatchActions,
        each ended: (PushResult, Int) -> Void
    ) {
        latest = now
        for result in results {
            if let app = end(result, into: &actions) { ended(result, app) }
        }
    }

    /// An attempt of a push ended.
    public mutating func pushEnded(_ result: PushResult, at now: Moment, into actions: inout DispatchActions) {
        latest = now
        _ = end(result, into: &actions)
    }

    /// Ends an attempt.
    ///
    /// - Returns: the app of its push; nil if there is no such push.
    private mutating func end(_ result: PushResult, into actions: inout DispatchActions) -> Int? {
        guard var push = pushes[result.identifier] else { return nil }
        let app = push.app
        if case .answered = result.outcome { noteAnswer(app: app) }
        guard var job = jobs.take(push.job) else {
            // It was given up.
            pushes.remove(result.identifier)
            pushEnded(.work, app: app)
            return app
        }
        let disposition = Disposition(result.outcome)
        let asksAPNs = asksAPNs(push.device, job.work)
        if asksAPNs {
            noteKey(result.outcome, disposition, app: app, into: &actions)
            if job.work.lane == .fanout, case .answered = result.outcome {
                bulkPushWasAnswered(afterNanoseconds: result.durationNanoseconds)
            }
        }
        // What does not go to APNs does not wait for its key.
        let isKeyInUse = !asksAPNs || breakers[app].state == .closed
        if isKeyInUse, mayResend(disposition, &push, job.work) {
            push.sent = latest.monotonic
            pushes.putBack(push, result.identifier)
            actions.sends.append(request(result.identifier, push.device, job.work, push.rendering))
            jobs.putBack(job, push.job)
            return app
        }
        pushes.remove(result.identifier)
        job.pushesOut -= 1
        pushEnded(job.work.lane, app: app)
        settle(disposition, &job, push, into: &actions)
        let isDone = job.pushesOut == 0 && job.nextDevice == job.work.devices.count
        jobs.putBack(job, push.job)
        if isDone { jobAdvanced(push.job, into: &actions) }
        return app
    }

    private func mayResend(_ disposition: Disposition, _ push: inout Push, _ work: DispatchJob) -> Bool {
        if work.parking.hasExpired(nowMilliseconds: latest.wall.milliseconds) { return false }
        // There is nowhere to send it; it waits in a queue rather than here.
        guard !routes.isUnreachable(route(of: push.device, push.rendering, work)) else { return false }
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

    /// Takes from an attempt what it tells of the key; that APNs does not accept it is dealt with where the push is.
    private mutating func noteKey(
        _ outcome: PushOutcome, _ disposition: Disposition, app: Int, into actions: inout DispatchActions
    ) {
        guard case .answered(let answer) = outcome, answer.status != 403 else {
            guard disposition == .resend || disposition == .resendPossibleDuplicate else { return }
            return breakers[app].attemptWasUnanswered(at: latest.monotonic)
        }
        if breakers[app].state != .closed { actions.notices.append(.keyAccepted(app: app)) }
        breakers[app].keyWasAccepted()
    }

    private mutating func settle(
        _ disposition: Disposition, _ job: inout Job, _ push: Push, into actions: inout DispatchActions
    ) {
        let device = push.device
        let app = push.app
        switch disposition {
        case .accepted:
            noteGoodToken(push, job.work)
            end(app: app) { $0.accepted += 1 }
            if let announcement = job.work.announcement {
                actions.told.append((job.work.devices[device].deviceID, announcement))
            }
        case .tokenDead(let since):
            noteGoodToken(push, job.work)
            end(app: app) { $0.tokenDead += 1 }
            actions.deadTokens.append(deadToken(of: push, job.work, since: since))
        case .tokenRejected(let reason):
            tokenRejected(&job, push, reason, into: &actions)
        case .deadLetter(let reason):
            let detail =
                "APNs answered \(reason), which stays so for this push: correct the event or the configuration."
            fail(&job, device, app: app, .deadLetter, reason, detail)
        case .retry(let cause, let after):
            retry(&job, device, app: app, cause, afterSeconds: after)
        case .resend where asksAPNs(device, job.work) && breakers[app].state != .closed:
            // It waited while the key was found to be wrong; nothing of it is spent.
            retry(&job, device, app: app, .keyRejected, afterSeconds: nil)
        case .resend, .resendPossibleDuplicate:
            let isUnreachable = rendering(of: device, in: job.work).map {
                routes.isUnreachable(route(of: device, $0, job.work))
            }
            // One that was certainly not processed is not to blame.
            let wasProcessed = disposition == .resendPossibleDuplicate && isUnreachable != true
            retry(
                &job, device, app: app, wasProcessed ? .unanswered : .unreachable, afterSeconds: nil)
        case .keyRejected(let reason):
            if breakers[app].state == .closed { actions.notices.append(.keyRejected(app: app, reason: reason)) }
            breakers[app].keyWasRejected(at: latest.monotonic)
            retry(&job, device, app: app, .keyRejected, afterSeconds: nil)
        }
    }

    private mutating func noteGoodToken(_ push: Push, _ work: DispatchJob) {
        if asksAPNs(push.device, work) { watches[push.app][kind(of: push, work)].tokenWasGood() }
    }

    /// Which of the device's tokens a push goes to.
    private func kind(of push: Push, _ work: DispatchJob) -> TokenKind {
        work.renderings[push.rendering].content.pushType.tokenKind
    }

    private mutating func tokenRejected(
        _ job: inout Job, _ push: Push, _ reason: String, into actions: inout DispatchActions
    ) {
        let app = push.app
        let kind = kind(of: push, job.work)
        let wasInDoubt = watches[app][kind].isInDoubt
        switch watches[app][kind].tokenWasBad() {
        case .keep: end(app: app) { $0.tokenDead += 1 }
        case .prune:
            end(app: app) { $0.tokenDead += 1 }
            actions.deadTokens.append(deadToken(of: push, job.work, since: nil))
        case .hold:
            if !wasInDoubt { actions.notices.append(.tokensInDoubt(app: app, kind: kind, reason: reason)) }
            retry(&job, push.device, app: app, .tokensInDoubt, afterSeconds: nil)
        }
    }

    mutating func retry(
        _ job: inout Job, _ device: Int, app: Int, _ cause: Disposition.RetryCause, afterSeconds: Int?
    ) {
        if job.work.isNowOrNever { return end(app: app) { $0.expired += 1 } }
        let decision = policy.decide(
            cause, retryAfterSeconds: afterSeconds, parking: job.work.parking, at: latest.wall)
        switch decision {
        case .retry(let delay):
            let attempt = job.work.parking.attempt + (cause.spendsAttempt ? 1 : 0)
            let detail =
                cause.spendsAttempt
                ? "Waits \(delay) ms; attempt \(attempt) of \(policy.attemptsMaximum) is spent."
                : "Waits \(delay) ms; no attempt is spent."
            fail(
                &job, device, app: app, .retry(delayMilliseconds: delay), cause.rawValue, detail, attempt: attempt,
                heldMilliseconds: cause.isOutage ? delay : 0)
        case .expired: end(app: app) { $0.expired += 1 }
        case .exhausted(let reason):
            fail(
                &job, device, app: app, .deadLetter, reason,
                "The last cause was \(cause.rawValue), after \(job.work.parking.attempt + 1) attempts.")
        }
    }

    private mutating func end(app: Int, _ count: (inout PushLedger) -> Void) {
        ledgers[app].inFlight -= 1
        count(&ledgers[app])
    }

    private func fail(
        _ job: inout Job, _ device: Int, app: Int?, _ destination: Destination, _ reason: String,
        _ detail: String, attempt: Int? = nil, heldMilliseconds: Int64 = 0
    ) {
        let attempt = attempt ?? job.work.parking.attempt + 1
        var deviceID = job.work.devices[device].deviceID
        if !job.work.assignments.isEmpty {
            let subscriber = Subscriber(subscription: job.work.assignments[device].subscription, deviceID: deviceID)
            deviceID = subscriber.parkedName
        }
        let name = job.work.devices[device].app
        let index = job.failures.firstIndex { failure in
            failure.destination == destination && failure.reason == reason && failure.appIndex == app
                && failure.app == name && failure.attempt == attempt
        }
        if let index {
            job.failures[index].deviceIDs.append(deviceID)
        } else {
            job.failures.append(
                Failure(
                    destination: destination, reason: reason, detail: detail, attempt: attempt, appIndex: app,
                    app: name, heldMilliseconds: heldMilliseconds, deviceIDs: [deviceID]))
        }
    }

    private func deadToken(of push: Push, _ work: DispatchJob, since: Int64?) -> DeadToken {
        let device = work.devices[push.device]
        return DeadToken(
            app: device.app, platform: device.platform, kind: kind(of: push, work), token: device.token,
            deadSinceMilliseconds: since)
    }
}
