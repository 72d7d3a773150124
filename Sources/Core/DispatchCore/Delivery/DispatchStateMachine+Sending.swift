import ChangeEvents
public import Essentials
import Notifications
import RegistryCore

/// The pushes to devices, and their routes.
extension DispatchStateMachine {
    /// Sends to devices that wait, as far as the limit of pushes in flight allows.
    public mutating func sendWaiting(at now: Moment, into actions: inout DispatchActions) {
        latest = now
        health.look(devicesWaiting: interactiveQueue.devicesWaitingByFlow, at: now.monotonic)
        health.lookAtServices(pushCounts, at: now.monotonic)
        abandonOverduePushes(into: &actions)
        sendWaiting(.interactive, window: limits.pushesInFlightMaximum, into: &actions)
        sendWaitingFanOuts(into: &actions)
        reportHealth(into: &actions)
    }

    /// Sends or ends a push to a device that waited for it; the caller must update its job afterwards.
    ///
    /// - Returns: how it ended; nil if it is out.
    mutating func send(
        _ device: Int, of number: UInt64, _ work: DispatchJob, into actions: inout DispatchActions
    ) -> PushEnding? {
        guard let rendering = sendableRendering(of: device, in: work) else {
            return .failed(unsendable(device, work))
        }
        let app = work.renderings[rendering].app.index
        if work.retryState.hasExpired(nowMilliseconds: latest.wall.milliseconds) {
            end(app: app) { $0.expired += 1 }
            return .expired
        }
        let asksService = asksService(device, work)
        let route = route(of: device, rendering, work)
        if health.mayDefer(app: app, route: route, asksService: asksService),
            let deferral = health.deferral(
                of: work.devices[device].token, app: app, route: route, asksService: asksService,
                at: latest.monotonic)
        {
            return retry(device, work, app: app, deferral)
        }
        let subscription = work.assignments.isEmpty ? 0 : work.assignments[device].subscription
        let push = Push(
            job: number, device: device, rendering: rendering, app: app, route: route,
            apnsID: work.identity.apnsID(for: work.devices[device].token, subscription: subscription),
            sent: latest.monotonic, asksService: asksService)
        let identifier = pushes.insert { _ in push }
        sendQueues[Self.sendQueueIndex(of: work.deliveryClass)].pushWentOut(app: app)
        if asksService { health.services.pushWentOut(app: app, at: latest.monotonic) }
        actions.sends.append(request(identifier, push, work))
        return nil
    }

    /// The rendering for a device; nil if there is none, or if its push cannot be made.
    func sendableRendering(of device: Int, in work: DispatchJob) -> Int? {
        if !work.assignments.isEmpty, work.assignments[device].problem != nil { return nil }
        guard let rendering = rendering(of: device, in: work), work.renderings[rendering].problem == nil else {
            return nil
        }
        return rendering
    }

    /// Why a device cannot be told anything.
    func unsendable(_ device: Int, _ work: DispatchJob) -> Failure {
        if !work.assignments.isEmpty, let problem = work.assignments[device].problem {
            return failure(device, work, app: nil, .deadLetter, problem.reason.rawValue, problem.message)
        }
        if let rendering = rendering(of: device, in: work).map({ work.renderings[$0] }), let problem = rendering.problem
        {
            return failure(
                device, work, app: rendering.app.index, .deadLetter, problem.reason.rawValue, problem.message)
        }
        let (name, platform) = (work.devices[device].app, work.devices[device].platform)
        guard appNames.contains(name) else {
            let detail = "No app named \(name) is configured; add it as [[app]], or remove the device."
            return failure(device, work, app: nil, .deadLetter, "unknown-app", detail)
        }
        let detail =
            "The app \(name) has no credentials for \(platform.service.title), which its device of platform "
            + "\(platform.rawValue) needs; add them to its [[app]], or remove the device."
        return failure(device, work, app: nil, .deadLetter, "service-not-configured", detail)
    }

    func request(_ identifier: UInt64, _ push: Push, _ work: DispatchJob) -> PushRequest {
        PushRequest(
            identifier: identifier, route: push.route, token: work.devices[push.device].token, apnsID: push.apnsID,
            content: work.renderings[push.rendering].sendable)
    }

    func route(of device: Int, _ rendering: Int, _ work: DispatchJob) -> Int {
        guard let route = work.renderings[rendering].app.transportRoute(to: work.devices[device].platform) else {
            preconditionFailure("a rendering is chosen for a device that its route leads to")
        }
        return route
    }

    /// Whether the push service answers the push, so that the answer concerns the app's key and tokens.
    func asksService(_ device: Int, _ work: DispatchJob) -> Bool { work.devices[device].platform != .courier }

    /// Which rendering is for a device; nil if no route leads to it.
    func rendering(of device: Int, in work: DispatchJob) -> Int? {
        if !work.assignments.isEmpty { return work.assignments[device].rendering }
        return work.renderings.indices.first { work.renderings[$0].serves(work.devices[device]) }
    }
}

/// The choice of the next push: turns between apps, and the share of bulk deliveries.
extension DispatchStateMachine {
    /// How long after the last small event bulk pushes still leave room for the next.
    static let interactivePresenceMilliseconds: Int64 = 1_000

    // MARK: Round robin

    /// The index of the send queue of a delivery class in `sendQueues`.
    static func sendQueueIndex(of deliveryClass: DeliveryClass) -> Int { deliveryClass == .interactive ? 0 : 1 }

    var interactiveQueue: SendQueue { sendQueues[Self.sendQueueIndex(of: .interactive)] }

    /// The flow in which a device of a job waits: its app; all devices of a job share one.
    func flow(of work: DispatchJob, device: Int) -> Int {
        guard isShared else { return 0 }
        if work.renderings.count == 1, work.assignments.isEmpty { return work.renderings[0].app.index }
        return rendering(of: device, in: work).map { work.renderings[$0].app.index } ?? pushCounts.count - 1
    }

    /// Sends the waiting pushes of a delivery class as far as its window allows, app by app in round robin.
    mutating func sendWaiting(
        _ deliveryClass: DeliveryClass, window: Int, pushesMaximum: Int = .max, into actions: inout DispatchActions
    ) {
        let queueIndex = Self.sendQueueIndex(of: deliveryClass)
        let outMaximum = pushesMaximum < window ? min(window, sendQueues[queueIndex].pushesOut + pushesMaximum) : window
        var passes = 0
        while let head = sendQueues[queueIndex].queue.head, passes < sendQueues[queueIndex].queue.activeFlowCount {
            guard sendQueues[queueIndex].pushesOut < outMaximum else { return }
            let (work, device) = jobs.modify(head.element) { ($0.work, $0.nextDevice) }
            let room = min(
                head.allowance, sendQueues[queueIndex].room(flow: head.flow, window: window),
                outMaximum - sendQueues[queueIndex].pushesOut)
            if room > 0 || endsUnsent(device, work) {
                passes = 0
                serve(work, from: device, head, queueIndex, unitsMaximum: max(room, 1), into: &actions)
            } else {
                sendQueues[queueIndex].queue.pass()
                passes += 1
            }
        }
    }

    /// Sends to some devices of the job at the head of the queue, from one on.
    private mutating func serve(
        _ work: DispatchJob, from first: Int, _ head: FairQueue<UInt64>.Head, _ queueIndex: Int, unitsMaximum: Int,
        into actions: inout DispatchActions
    ) {
        let number = head.element
        let end = min(work.devices.count, first + unitsMaximum)
        let pushesBefore = pushes.count
        for device in first..<end {
            if let ending = send(device, of: number, work, into: &actions) {
                let rendering = rendering(of: device, in: work)
                jobs.modify(number) { $0.ended(device, ending, rendering: rendering, at: latest.wall) }
            }
        }
        let sent = pushes.count - pushesBefore
        jobs.modify(number) { job in
            job.nextDevice = end
            job.pushesOut += sent
        }
        let isFinished = end == work.devices.count
        sendQueues[queueIndex].served(devices: end - first, flow: head.flow, isFinished: isFinished)
        if isFinished { jobAdvanced(number, into: &actions) }
    }

    /// Whether a waiting push would end without being sent, so that it needs no room in the window.
    private func endsUnsent(_ device: Int, _ work: DispatchJob) -> Bool {
        guard let rendering = rendering(of: device, in: work) else { return true }
        return health.isPaused(app: work.renderings[rendering].app.index)
            || health.isUnreachable(route: route(of: device, rendering, work))
    }

    // MARK: Bulk deliveries

    /// How many pushes of large fan-outs may be out: all that there is room for, unless small events are under way.
    var bulkPushesMaximum: Int { isBulkRestricted ? bulkWindow.size : limits.pushesInFlightMaximum }

    /// Whether large fan-outs may use only the capacity that small events leave: some are under way, or were lately.
    public var isBulkRestricted: Bool {
        let queueIndex = Self.sendQueueIndex(of: .interactive)
        if sendQueues[queueIndex].pushesOut > 0 || sendQueues[queueIndex].devicesWaiting > 0 { return true }
        guard let arrived = interactiveArrived else { return false }
        return latest.monotonic.milliseconds(since: arrived) < Self.interactivePresenceMilliseconds
    }

    /// Sends the waiting pushes of large fan-outs: evenly spread while small events share the way, else at once.
    mutating func sendWaitingFanOuts(into actions: inout DispatchActions) {
        guard isBulkRestricted, let rate = bulkWindow.pushesPerMillisecond else {
            return sendWaiting(.bulk, window: bulkPushesMaximum, into: &actions)
        }
        let queueIndex = Self.sendQueueIndex(of: .bulk)
        let allowance = bulkPace.allowance(perMillisecond: rate, at: latest.monotonic)
        let before = sendQueues[queueIndex].pushesOut
        sendWaiting(.bulk, window: bulkPushesMaximum, pushesMaximum: allowance, into: &actions)
        bulkPace.wentOut(sendQueues[queueIndex].pushesOut - before)
    }

    /// Whether pushes of large fan-outs wait only so that they go out evenly: more may be sent in a millisecond.
    public var isBulkPaced: Bool {
        let bulk = sendQueues[Self.sendQueueIndex(of: .bulk)]
        return !bulk.queue.isEmpty && isBulkRestricted && bulk.pushesOut < bulkPushesMaximum
    }
}
