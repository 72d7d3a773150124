public import ChangeEvents
public import Essentials
public import Messages
public import Notifications
import RegistryCore

/// The life of every delivery between its arrival and its acknowledgement: which pushes are out, what becomes of each,
/// what has to be requeued first, and when the delivery may be settled.
///
/// A job is one page of one event's audience, or the part of it that goes to one app at one push service: so no part
/// waits for another, and the delivery is settled with the last. It goes through these states:
///
/// | state | means | can transition to |
/// |---|---|---|
/// | waiting | has devices that were not sent to yet | sent, when the last one was sent or ended |
/// | sent | waits for answers | requeuing, when the last push ended and some failed; settled, if none did |
/// | requeuing | waits for the broker to confirm its requeued copies | settled, when the last one is confirmed |
/// | settled | its deliveries are acknowledged, or rejected if the broker takes a copy never | none: it is gone |
///
/// An `app` is the index of an `AppRoute`: an app that uses several push services counts as several.
///
/// A push ends when its push service accepted it, its token is dead, its time has passed, or its requeued copy is
/// confirmed.
/// Nothing else settles a delivery, so the broker still has every event that is lost on the way.
///
/// Methods are named after events; the resulting actions are appended to `DispatchActions`. Time is an argument.
public struct DispatchStateMachine: Sendable {
    struct Job: Sendable {
        let work: DispatchJob
        var nextDevice = 0
        var pushesOut = 0
        var publishesOut = 0
        var failures: [Failure] = []
        /// How many of its pushes have expired.
        var expiredCount = 0
        /// The pushes that have ended, as far as the backend wants to hear of them; published with the last of them.
        var endedPushes: [EndedPush] = []
        /// The tokens that are dead, as far as the backend wants to hear of them; removed when it has been told.
        var deadTokens: [DeadToken] = []
        /// The outcomes of the registry that it publishes, by their numbers there; none for most jobs.
        var restoredOutcomes: [Int64] = []
        /// The parts of the page that it is one of; nil if it is the whole of it.
        var group: UInt64?
        /// The app under which its deliveries are counted; nil if they are not.
        var backlogApp: Int?
        /// Why the broker will never take a copy that its deliveries must not end without; nil if there is none such.
        var rejection: String?

        /// Whether nothing of it waits to be sent or for an answer.
        var isSent: Bool { nextDevice == work.devices.count && pushesOut == 0 }

        /// Notes how the push to a device ended.
        ///
        /// - Parameters:
        ///   - device: the device.
        ///   - ending: how it ended.
        ///   - push: its last attempt; nil if it was not sent.
        ///   - rendering: its content; nil if there is none for the device.
        ///   - now: the time.
        mutating func ended(
            _ device: Int, _ ending: PushEnding, push: Push? = nil, rendering: Int?, at now: WallTime
        ) {
            switch ending {
            case .failed(let failure): failed(device, failure)
            case .expired: expiredCount += 1
            case .accepted, .tokenDead: break
            }
            guard let rendering, let kind = ending.kind,
                work.renderings[rendering].app.outcomes.contains(kind.selection)
            else { return }
            endedPushes.append(
                EndedPush(
                    recipient: work.devices[device], subscriptionID: work.renderings[rendering].subscriptionID,
                    kind: kind, reason: ending.reason, apnsID: push?.apnsID,
                    sends: push?.sends ?? 0, ended: now))
        }

        /// Notes that entries of the target are wrong: their dead letter goes out with the last push of the job.
        mutating func refuse(_ refused: RefusedEntries, attempt: Int, at now: WallTime) {
            let (targets, reason) = (refused.targets, refused.targets.first.reason.rawValue)
            failures.append(
                Failure(
                    destination: .deadLetter, reason: reason, detail: targets.detail, attempt: attempt,
                    app: refused.app, deviceIDs: targets.names, areMatched: false))
            guard refused.areTold else { return }
            endedPushes += targets.names.map { name in
                EndedPush(
                    recipient: Recipient(entry: name, app: refused.app), kind: .deadLettered, reason: reason,
                    apnsID: nil, sends: 0, ended: now)
            }
        }

        /// Notes that the push to a device failed.
        private mutating func failed(_ device: Int, _ failure: Failure) {
            let name = work.retryName(of: device)
            if let index = failures.firstIndex(where: { $0.isAlike(failure) }) {
                failures[index].deviceIDs.append(name)
            } else {
                failures.append(failure)
                failures[failures.count - 1].deviceIDs = [name]
            }
        }
    }

    /// The parts of one page, whose deliveries end with the last of them.
    struct JobGroup: Sendable {
        var partsLeft: Int
        /// Why the broker will never take a copy of one of them; nil if there is none such.
        var rejection: String?
    }

    /// Devices of one job that failed in the same way, and go into the same requeued copies.
    struct Failure: Sendable {
        var destination: Destination
        var reason: String
        var detail: String
        var attempt: Int
        var appIndex: Int?
        /// The app of its devices; nil if the delivery failed as a whole.
        var app: String?
        /// How long its pushes are deferred for no fault of their own, which does not count as age.
        var deferredMilliseconds: Int64 = 0
        /// Their names in the requeued copies.
        var deviceIDs: [String] = []
        /// Whether they were matched, and are counted as pushes; wrong entries of a target were not.
        var areMatched = true

        func isAlike(_ other: Failure) -> Bool {
            destination == other.destination && reason == other.reason && appIndex == other.appIndex
                && app == other.app && attempt == other.attempt && areMatched == other.areMatched
        }
    }

    /// How a push ended, as far as this attempt of its event goes.
    enum PushEnding: Sendable {
        case accepted
        /// Its token is dead; whether that has the registry remove it.
        case tokenDead(reason: String, isRemoved: Bool)
        case expired
        /// It has to be requeued.
        case failed(Failure)

        /// The outcome that its backend receives; nil for the part of a fan-out that only moves to another queue.
        var kind: OutcomeKind? {
            switch self {
            case .accepted: .accepted
            case .tokenDead(_, let isRemoved): isRemoved ? .tokenDead : .rejected
            case .expired: .expired
            case .failed(let failure):
                switch failure.destination {
                case .retry: .retrying
                case .deadLetter: .deadLettered
                case .fanOut: nil
                }
            }
        }

        /// The cause, as a word.
        var reason: String {
            switch self {
            case .accepted, .expired: ""
            case .tokenDead(let reason, _): reason
            case .failed(let failure): failure.reason
            }
        }
    }

    enum Destination: Hashable, Sendable {
        case retry(delayMilliseconds: Int64)
        case deadLetter
        case fanOut
    }

    struct Push: Sendable {
        /// Stands in place of its job's number, if the job does not wait for it any more.
        static let abandoned = UInt64.max

        var job: UInt64
        var device: Int
        var rendering: Int
        var app: Int
        /// The transport's route to its device.
        var route: Int
        var apnsID: APNsIdentifier
        var sent: MonotonicTime
        /// Whether the push service answers it, and not the registry.
        var asksService: Bool
        var sends = 1
        var ambiguousSends = 0
    }

    struct Publish: Sendable {
        enum Kind: Sendable {
            case failure(Destination, appIndex: Int?, pushes: Int)
            case continuation
            /// A chunk of the plan that `job` is the number of.
            case chunk
            /// Tells a backend what became of pushes.
            case outcome
        }

        var job: UInt64
        var kind: Kind
        var message: OutgoingMessage
        var reason: String
        var detail: String
        /// When it was handed to the publisher first.
        var begun: MonotonicTime
    }

    let policy: RetryPolicy
    let queues: DispatchQueues
    let limits: DispatchLimits
    var jobs = SlotTable<Job>()
    var groups = SlotTable<JobGroup>()
    var pushes = SlotTable<Push>()
    /// Which words of push services were logged lately.
    var explanations = ExplanationLimiter()
    /// The dataset announcements of abandoned pushes, by the number of the push: their answers may still come.
    var announcementsOfAbandonedPushes: [UInt64: (deviceID: String, announcement: DatasetAnnouncement)] = [:]
    var publishes = SlotTable<Publish>()
    /// One send queue for interactive deliveries and one for bulk deliveries; `sendQueueIndex` says which.
    var sendQueues: [SendQueue]
    var bulkWindow: BulkCongestionWindow
    var bulkPace = BulkPacer()
    var outcomeFlow: OutcomeFlow
    /// Whether it was told that outcomes are dropped, and not yet that they are taken again.
    var areOutcomesDropped = false
    /// The last reading of the clocks.
    var latest = Moment(wall: .earliest, monotonic: MonotonicTime(nanoseconds: 0))
    /// When the last small event arrived.
    var interactiveArrived: MonotonicTime?

    /// The names of the configured apps.
    public var appNames: Set<String> = []
    /// What backends want to hear, by app, if outcomes are kept as well; nil if all that is noted is for backends.
    var toldOutcomes: [String: OutcomeSelection]?

    /// How the push service serves each app, as far as the pushes tell.
    public internal(set) var health: AppHealth
    /// The outcomes of the pushes, by app; the last entry is for devices whose app is not configured.
    public internal(set) var pushCounts: [PushCounts]
    /// How many messages became dead letters before any push was made of them: whole events, which no ledger has.
    public internal(set) var eventsDeadLettered = 0

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - appCount: how many routes all apps have.
    ///   - policy: when failed pushes are tried again.
    ///   - queues: where requeued messages go; has a retry queue for each delay of the policy.
    ///   - limits: the bounds.
    ///   - seed: keeps others from choosing tokens with equal digests.
    public init(
        appCount: Int, policy: RetryPolicy, queues: DispatchQueues, limits: DispatchLimits, seed: UInt64 = 0
    ) {
        precondition(
            policy.delaysMilliseconds.allSatisfy { queues.retry[$0] != nil }, "each delay needs its retry queue")
        self.policy = policy
        self.queues = queues
        self.limits = limits
        sendQueues = Array(repeating: SendQueue(appCount: appCount), count: 2)
        bulkWindow = BulkCongestionWindow(maximum: limits.pushesInFlightMaximum)
        outcomeFlow = OutcomeFlow(patienceMilliseconds: limits.outcomePatienceMilliseconds)
        health = AppHealth(appCount: appCount, limits: limits, seed: seed)
        pushCounts = Array(repeating: PushCounts(), count: appCount + 1)
    }

    // MARK: State

    /// Whether there is more than one app to be fair to.
    var isShared: Bool { health.isShared }

    /// How many jobs have not been settled.
    public var jobCount: Int { jobs.count }

    /// How many pushes are out.
    public var pushesInFlight: Int { pushes.count }

    /// Whether so many bulk pushes of an app wait to be sent that no page of it is to be looked up.
    func hasBulkBacklog(app: Int) -> Bool {
        let queue = sendQueues[Self.sendQueueIndex(of: .bulk)]
        return queue.devicesWaitingByFlow[isShared ? app : 0] > limits.bulkDevicesWaitingMaximum
    }

    /// Whether so many pushes of a delivery class wait to be sent that no more of it is to be looked up.
    public func isSaturated(_ deliveryClass: DeliveryClass) -> Bool {
        // With one app nothing could overtake what waits. Fan-outs wait in the broker, where they cost nothing.
        guard deliveryClass == .interactive, isShared else {
            return !sendQueues[Self.sendQueueIndex(of: deliveryClass)].queue.isEmpty
        }
        guard interactiveQueue.devicesWaiting >= limits.devicesWaitingMaximum else { return false }
        // The waiting pushes of a slow app must not keep the others out; its further deliveries are deferred.
        let slow = health.slowApps.reduce(0) { $0 + interactiveQueue.devicesWaitingByFlow[$1] }
        return interactiveQueue.devicesWaiting - slow >= limits.devicesWaitingMaximum
    }

    // MARK: Time passes

    /// Sets the time of the next events, until the clocks are read again.
    ///
    /// Methods that take the moment read them, too. Before the others this is to be called if time may have passed
    /// since, because patience, retries and the dates of dead letters follow from it.
    public mutating func clocksRead(_ now: Moment) { latest = now }

    // MARK: Work arrives

    /// A page of an audience is ready to be pushed to.
    ///
    /// - Returns: the outcome; pushes for a slow app that exceeds its share are deferred.
    @discardableResult
    public mutating func jobArrived(_ work: DispatchJob, into actions: inout DispatchActions) -> JobArrival {
        let parts = parts(of: work)
        guard parts.count > 1 else { return arrived(work, of: nil, into: &actions) }
        let group = groups.insert { _ in JobGroup(partsLeft: parts.count) }
        var arrivals: Set<JobArrival> = []
        for part in parts { arrivals.insert(arrived(part, of: group, into: &actions)) }
        if arrivals.contains(.taken) { return .taken }
        return arrivals.contains(.deferred) ? .deferred : .ended
    }

    /// The parts of a page by the app that they are for; the page itself if there is only one.
    private func parts(of work: DispatchJob) -> [DispatchJob] {
        // One content for all, as most jobs have, goes to one app.
        guard isShared, work.renderings.count > 1 || !work.assignments.isEmpty,
            let first = work.devices.indices.first.map({ flow(of: work, device: $0) }),
            work.devices.indices.contains(where: { flow(of: work, device: $0) != first })
        else { return [work] }
        var flows: [Int] = []
        var devicesByFlow: [[Int]] = []
        for device in work.devices.indices {
            let flow = flow(of: work, device: device)
            if let index = flows.firstIndex(of: flow) {
                devicesByFlow[index].append(device)
            } else {
                flows.append(flow)
                devicesByFlow.append([device])
            }
        }
        return devicesByFlow.indices.map { work.part(of: devicesByFlow[$0], isFirst: $0 == 0) }
    }

    private mutating func arrived(
        _ work: DispatchJob, of group: UInt64?, into actions: inout DispatchActions
    ) -> JobArrival {
        for device in work.devices.indices {
            let app = rendering(of: device, in: work).map { work.renderings[$0].app.index } ?? pushCounts.count - 1
            pushCounts[app].matched += 1
            pushCounts[app].inFlight += 1
        }
        let continuation = work.continuation
        var job = Job(work: work)
        job.group = group
        if let refused = work.refused { job.refuse(refused, attempt: work.retryState.attempt, at: latest.wall) }
        if work.deliveryClass == .interactive, !work.devices.isEmpty { interactiveArrived = latest.monotonic }
        let isDeferred = admit(&job)
        let number = jobs.insert { _ in job }
        if let continuation { publishContinuation(continuation, of: number, into: &actions) }
        for unsent in work.unsent { publishOutcomes(of: unsent.pushes, unsent.event, job: number, into: &actions) }
        var arrival = JobArrival.taken
        if isDeferred {
            arrival = deferJob(number) ? .deferred : .ended
        } else if !work.devices.isEmpty {
            sendQueues[Self.sendQueueIndex(of: work.deliveryClass)].waits(
                number, devices: work.devices.count, flow: flow(of: work, device: 0))
            return .taken
        }
        jobAdvanced(number, into: &actions)
        return arrival
    }

    /// Moves a delivery that cannot be processed to the dead letters, unchanged.
    ///
    /// - Parameters:
    ///   - tags: the deliveries that end with it; none for a chunk, which ends with the last of its pages.
    ///   - message: the message for the dead letters.
    ///   - retryState: its history.
    ///   - dataset: the dataset whose turn ends with it.
    ///   - chunk: the delivery of the chunk with a page that cannot be processed.
    ///   - event: the part of the event that outcomes tell of; nil if no outcome is published.
    ///   - apps: the apps whose backends want to hear of it.
    ///   - reason: the reason, as a word.
    ///   - detail: the reason, as a sentence.
    ///   - actions: receives the actions.
    public mutating func deliveryRejected(
        _ tags: [DeliveryTag], message: Message, retryState: RetryState, dataset: DatasetKey? = nil,
        chunk: DeliveryTag? = nil, event: OutcomeEvent? = nil, tellingApps apps: [String] = [], reason: String,
        detail: String, into actions: inout DispatchActions
    ) {
        let work = DispatchJob(
            tags: tags, message: message, retryState: retryState, identity: PushIdentity(source: "", identifier: ""),
            renderings: [], devices: [], chunk: chunk, dataset: dataset)
        var job = Job(work: work)
        job.failures = [
            Failure(
                destination: .deadLetter, reason: reason, detail: detail, attempt: retryState.attempt,
                deviceIDs: retryState.deviceIDs ?? [])
        ]
        let number = jobs.insert { _ in job }
        if let event {
            publishOutcome(
                ofWhole: event, .deadLettered, apps: apps, reason: reason, job: number, into: &actions)
        }
        jobAdvanced(number, into: &actions)
    }

    /// Ends the delivery of an event that has expired before its devices were looked up.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - apps: the apps whose backends want to hear of it.
    ///   - actions: receives the actions.
    mutating func eventExpired(_ event: DecodedEvent, tellingApps apps: [String], into actions: inout DispatchActions) {
        guard !apps.isEmpty else { return actions.settles.append(event.delivery.tag) }
        let work = DispatchJob(
            tags: [event.delivery.tag], message: event.delivery.message, retryState: event.retryState,
            identity: PushIdentity(source: "", identifier: ""), renderings: [], devices: [])
        let job = Job(work: work)
        let number = jobs.insert { _ in job }
        publishOutcome(ofWhole: OutcomeEvent(event), .expired, apps: apps, reason: "", job: number, into: &actions)
        jobAdvanced(number, into: &actions)
    }

    /// Pushes of an app were left out because a newer event says the same.
    mutating func pushesCoalesced(_ count: Int, app: Int?) {
        let index = app ?? pushCounts.count - 1
        pushCounts[index].matched += count
        pushCounts[index].coalesced += count
    }
}
