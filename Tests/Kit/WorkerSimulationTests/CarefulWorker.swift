import ChangeEvents
import DispatchCore
import Essentials
import Notifications
import Predicates
import PushTestKit
import RegistryCore

@testable import WorkerSimulation

/// A worker that does the least that keeps the promise, each delivery by itself: it shows that the models are sound,
/// and with a defect that the books find it.
struct CarefulWorker<Flaw: Defective>: SimulatedMachine {
    enum Request {
        case find(DeliveryTag, ChangeEvent, only: [String]?)
        case prune([DeadToken])
    }

    enum Answer {
        case found(DeliveryTag, [(recipient: Recipient, subscription: Int64)])
        case pruned
    }

    private struct Job {
        var delivery: Delivery
        var event: ChangeEvent
        var retryState: RetryState
        var pushesLeft = 0
        var publishesLeft = 0
        var failed: [String] = []
    }

    private struct Push {
        var tag: DeliveryTag
        var request: PushRequest
        var recipient: Recipient
        var name: String
    }

    private let setup: WorkerSetup
    private let decoder = EventDecoder()
    private var jobs: [DeliveryTag: Job] = [:]
    private var pushes: [UInt64: Push] = [:]
    private var publishes: [UInt64: (tag: DeliveryTag, message: OutgoingMessage)] = [:]
    private var questions: [UInt64: Request] = [:]
    private var toAsk: [Request] = []
    private var repeatAt: MonotonicTime?
    private var lastNumber: UInt64 = 0
    private var actions = MachineActions<Request>()
    private var isDraining = false
    private var isPaused = false
    private var epoch: UInt32 = 0

    static var requestsMaximum: Int { 10_000 }
    let mayConsume = true
    var nextTick: MonotonicTime? { repeatAt }
    var isDrained: Bool { isDraining && jobs.isEmpty }

    init(_ setup: WorkerSetup, planner: Int64) { self.setup = setup }

    // MARK: The registry

    static func makeResponder(_ setup: WorkerSetup, registry: SimulatedRegistry) -> SimulatedRegistry { registry }

    static func isWrite(_ request: Request) -> Bool { if case .prune = request { true } else { false } }

    static func answer(
        _ request: Request, by registry: SimulatedRegistry, at now: Moment
    ) throws(RegistryError) -> Answer {
        switch request {
        case .prune(let tokens):
            _ = try registry.prune(tokens)
            return .pruned
        case .find(let tag, let event, let only):
            guard case .record(let change) = event.kind else {
                return .found(tag, try devices(event, only, registry).map { ($0, 0) })
            }
            return .found(tag, try subscribers(change, event, only, registry))
        }
    }

    private static func devices(
        _ event: ChangeEvent, _ only: [String]?, _ registry: SimulatedRegistry
    ) throws(RegistryError) -> [Recipient] {
        let audience: Audience
        var excluded: String?
        switch event.kind {
        case .dataset(let change):
            audience = .dataset(change.key)
            excluded = change.deviceID
        case .push(let push): audience = push.audience
        case .record: return []
        }
        let request = AudienceRequest(audience: audience, excludedDeviceID: excluded, onlyDeviceIDs: only)
        return try registry.resolve([request], limit: 100_000)[0].devices
    }

    private static func subscribers(
        _ change: RecordChange, _ event: ChangeEvent, _ only: [String]?, _ registry: SimulatedRegistry
    ) throws(RegistryError) -> [(recipient: Recipient, subscription: Int64)] {
        guard case .integer(let room)? = change.fields["room"], let name = change.app,
            let app = registry.world.appNames.firstIndex(of: name)
        else { return [] }
        var rows = registry.world.subscriptions(app: app, room: Int(room)).map { registry.world.subscriptions[$0].row }
        if Int(room) == World.onceRoom {
            rows = try registry.claim(
                rows, for: EventDigest(source: event.source, identifier: event.identifier), nowMilliseconds: 0)
        }
        var request = SubscriberRequest(subscriptions: rows, excludedDeviceID: change.deviceID)
        request.only = only?.compactMap { Subscriber(retryName: $0) }
        let page = try registry.resolveSubscribers([request], limit: 100_000)[0]
        return page.entries.map { ($0.recipient, page.subscriptions[$0.subscription].row) }
    }

    private mutating func ask(_ request: Request) {
        lastNumber += 1
        questions[lastNumber] = request
        actions.requests.append((lastNumber, request))
    }

    mutating func registryAnswered(
        _ number: UInt64, _ result: Result<Answer, RegistryError>, at now: Moment
    ) {
        guard let request = questions.removeValue(forKey: number) else { return }
        switch result {
        case .failure(let error):
            guard case .find = request, Flaw.defect != .forgetsTheRegistry else { return }
            _ = error
            toAsk.append(request)
            repeatAt = repeatAt ?? now.monotonic.advanced(byMilliseconds: 1_000)
        case .success(.found(let tag, let audience)): begin(tag, audience, now)
        case .success(.pruned): break
        }
    }

    // MARK: Deliveries

    mutating func deliveriesReceived(_ deliveries: [Delivery], at now: Moment) {
        for delivery in deliveries where !isDraining { receive(delivery, now) }
    }

    private mutating func receive(_ delivery: Delivery, _ now: Moment) {
        var retryState = RetryState(of: delivery, nowMilliseconds: now.wall.milliseconds)
        do throws(EventRejection) {
            let event = try decoder.decode(delivery.message)
            retryState.limitLife(to: event)
            guard !retryState.hasExpired(nowMilliseconds: now.wall.milliseconds) else {
                actions.settles.append(delivery.tag)
                return
            }
            jobs[delivery.tag] = Job(delivery: delivery, event: event, retryState: retryState)
            ask(.find(delivery.tag, event, only: retryState.deviceIDs))
        } catch {
            let event = ChangeEvent(
                identifier: "", source: "", time: nil, kind: .push(Self.nothing))
            jobs[delivery.tag] = Job(delivery: delivery, event: event, retryState: retryState)
            requeue(delivery.tag, [], to: setup.queues.deadLetter, reason: error.reason.rawValue, error.message)
        }
    }

    private static var nothing: RequestedPush {
        RequestedPush(app: "", audience: .devices([], app: ""), notification: Notification(), options: PushOptions())
    }

    mutating func sourceStateChanged(_ state: DeliverySourceState, at now: Moment) {
        if case .consuming(let epoch) = state { self.epoch = epoch }
    }

    private mutating func begin(
        _ tag: DeliveryTag, _ audience: [(recipient: Recipient, subscription: Int64)], _ now: Moment
    ) {
        guard let job = jobs[tag] else { return }
        let number = job.event.identifier.dropFirst()
        let content = PushContent(
            payload: Array("#\(number)#".utf8), topic: "", pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        let identity = PushIdentity(source: job.event.source, identifier: job.event.identifier)
        var audience = audience
        if Flaw.defect == .leavesOutADevice, audience.count > 2 { audience.removeLast() }
        if Flaw.defect == .neglectsAnApp, audience.first?.recipient.app == "app0" { return }
        for (recipient, subscription) in audience {
            guard let app = setup.apps.first(where: { $0.name == recipient.app }) else { continue }
            lastNumber += 1
            let name =
                subscription == 0
                ? recipient.deviceID : Subscriber(subscription: subscription, deviceID: recipient.deviceID).retryName
            let request = PushRequest(
                identifier: lastNumber,
                route: recipient.platform == .apnsSandbox ? app.sandboxRoute : app.productionRoute,
                token: recipient.token, apnsID: identity.apnsID(for: recipient.token, subscription: subscription),
                content: content)
            pushes[lastNumber] = Push(tag: tag, request: request, recipient: recipient, name: name)
            jobs[tag]?.pushesLeft += 1
            actions.sends.append(request)
        }
        if Flaw.defect == .settlesBeforeAnswers { actions.settles.append(tag) }
        if Flaw.defect == .pushesToStrangers, let first = actions.sends.last { strangers(first, tag) }
        endIfDone(tag)
    }

    /// Pushes to a device of another owner.
    private mutating func strangers(_ request: PushRequest, _ tag: DeliveryTag) {
        guard let token = DeviceToken(bytes: [0, 0, 0, 3] + Array(request.token.bytes[4...])) else { return }
        lastNumber += 1
        actions.sends.append(
            PushRequest(
                identifier: lastNumber, route: request.route, token: token, apnsID: request.apnsID,
                content: request.content))
    }

    // MARK: Pushes

    mutating func pushesEnded(_ results: [AttemptResult], at now: Moment) {
        for result in results {
            guard let push = pushes.removeValue(forKey: result.identifier) else { continue }
            ended(push, result.outcome, now)
        }
    }

    private mutating func ended(_ push: Push, _ outcome: AttemptOutcome, _ now: Moment) {
        switch Disposition(outcome, of: .apns) {
        case .accepted: break
        case .tokenDead(let since): prune(push, since)
        case .tokenRejected: if Flaw.defect == .prunesWhatIsRejected { prune(push, nil) }
        default:
            if Flaw.defect != .forgetsFailures { jobs[push.tag]?.failed.append(push.name) }
        }
        jobs[push.tag]?.pushesLeft -= 1
        guard let job = jobs[push.tag], job.pushesLeft == 0 else { return }
        var rest = job.failed[...]
        while !rest.isEmpty {
            requeue(push.tag, Array(rest.prefix(200)), to: setup.queues.retry[30_000] ?? "", reason: "failed")
            rest = rest.dropFirst(200)
        }
        if Flaw.defect == .settlesBeforeConfirms {
            if jobs[push.tag] != nil { actions.settles.append(push.tag) }
            jobs[push.tag] = nil
        }
        endIfDone(push.tag)
    }

    private mutating func prune(_ push: Push, _ since: Int64?) {
        ask(
            .prune([
                DeadToken(
                    app: push.recipient.app, platform: push.recipient.platform, kind: .alert,
                    token: push.recipient.token, deadSinceMilliseconds: since)
            ]))
    }

    private mutating func requeue(
        _ tag: DeliveryTag, _ names: [String], to queue: String, reason: String, _ detail: String = ""
    ) {
        guard let job = jobs[tag] else { return }
        var retryState = job.retryState
        if !names.isEmpty { retryState.deviceIDs = names }
        lastNumber += 1
        let message = OutgoingMessage(
            identifier: lastNumber, exchange: "", routingKey: queue,
            message: retryState.requeuedCopy(of: job.delivery.message, reason: reason, detail: detail))
        publishes[lastNumber] = (tag, message)
        jobs[tag]?.publishesLeft += 1
        actions.publishes.append(message)
    }

    mutating func publishesEnded(
        _ outcomes: [(identifier: UInt64, outcome: PublishOutcome)], at now: Moment
    ) {
        for (identifier, outcome) in outcomes {
            guard let (tag, message) = publishes[identifier] else { continue }
            let isTaken = outcome == .confirmed || Flaw.defect == .takesRefusedForConfirmed
            guard isTaken else {
                actions.publishes.append(message)
                continue
            }
            publishes[identifier] = nil
            jobs[tag]?.publishesLeft -= 1
            endIfDone(tag)
        }
    }

    private mutating func endIfDone(_ tag: DeliveryTag) {
        guard let job = jobs[tag], job.pushesLeft == 0, job.publishesLeft == 0 else { return }
        jobs[tag] = nil
        if Flaw.defect != .settlesBeforeAnswers { actions.settles.append(tag) }
        if Flaw.defect == .settlesTwice, tag.number % 1_000 == 7 { actions.settles.append(tag) }
    }

    mutating func routesChanged(_ changes: [RouteChange], at now: Moment) {}

    mutating func drain(at now: Moment) { isDraining = true }

    mutating func tick(at now: Moment) {
        guard let due = repeatAt, due <= now.monotonic else { return }
        repeatAt = nil
        let again = toAsk
        toAsk = []
        for request in again { ask(request) }
    }

    mutating func takeActions() -> MachineActions<Request> {
        defer { actions = MachineActions() }
        return actions
    }
}
