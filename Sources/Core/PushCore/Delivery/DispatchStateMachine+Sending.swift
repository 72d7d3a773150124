public import Essentials
import Notifications

/// What goes out to a device, and by which route.
extension DispatchStateMachine {
    /// Sends to devices that wait, as far as the limit of pushes in flight allows.
    public mutating func sendWaiting(at now: Moment, into actions: inout DispatchActions) {
        latest = now
        health.look(devicesWaiting: workLane.devicesWaitingByFlow, at: now.monotonic)
        giveUpOverduePushes(into: &actions)
        sendWaiting(.work, window: limits.pushesInFlightMaximum, into: &actions)
        sendWaitingFanOuts(into: &actions)
        reportHealth(into: &actions)
    }

    /// Sends a push to a device that waited for it, or ends it; its job is to be told afterwards.
    ///
    /// - Returns: how it failed, if it cannot be sent and has to be requeued.
    mutating func send(
        _ device: Int, of number: UInt64, _ work: DispatchJob, into actions: inout DispatchActions
    ) -> Failure? {
        guard let rendering = sendableRendering(of: device, in: work) else { return unsendable(device, work) }
        let app = work.renderings[rendering].app.index
        if work.retryState.hasExpired(nowMilliseconds: latest.wall.milliseconds) {
            end(app: app) { $0.expired += 1 }
            return nil
        }
        let verdict = health.verdict(
            app: app, route: route(of: device, rendering, work), asksAPNs: asksAPNs(device, work),
            at: latest.monotonic)
        if let cause = verdict { return retry(device, work, app: app, cause) }
        let push = pushes.insert { _ in
            Push(job: number, device: device, rendering: rendering, app: app, sent: latest.monotonic)
        }
        lanes[Self.place(of: work.lane)].pushWentOut(app: app)
        actions.sends.append(request(push, device, work, rendering))
        if let changed = work.changed, !work.retryState.isRequeuedCopy {
            actions.lagsMilliseconds.append(max(0, latest.wall - changed))
        }
        return nil
    }

    /// Which rendering a device is told; nil if there is none, or if its push cannot be made.
    func sendableRendering(of device: Int, in work: DispatchJob) -> Int? {
        if !work.assignments.isEmpty, work.assignments[device].problem != nil { return nil }
        return rendering(of: device, in: work)
    }

    /// Why a device cannot be told anything.
    func unsendable(_ device: Int, _ work: DispatchJob) -> Failure {
        if !work.assignments.isEmpty, let problem = work.assignments[device].problem {
            return failure(device, work, app: nil, .deadLetter, problem.reason.rawValue, problem.message)
        }
        let name = work.devices[device].app
        let detail = "No app named \(name) is configured; add it as [[app]], or remove the device."
        return failure(device, work, app: nil, .deadLetter, "unknown-app", detail)
    }

    func request(_ push: UInt64, _ device: Int, _ work: DispatchJob, _ rendering: Int) -> PushRequest {
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
    func asksAPNs(_ device: Int, _ work: DispatchJob) -> Bool { work.devices[device].platform != .web }

    /// Which rendering is for the app of a device; nil if the app is not configured.
    func rendering(of device: Int, in work: DispatchJob) -> Int? {
        if !work.assignments.isEmpty { return work.assignments[device].rendering }
        return work.renderings.indices.first { work.renderings[$0].app.name == work.devices[device].app }
    }
}

/// Who may send next: turns between apps, and the share of the bulk lane.
extension DispatchStateMachine {
    /// How long after the last small event the bulk lane still leaves room for the next.
    static let workPresenceMilliseconds: Int64 = 1_000

    // MARK: Turns

    /// The place of a lane among `lanes`.
    static func place(of lane: DeliveryClass) -> Int { lane == .work ? 0 : 1 }

    var workLane: SendQueue { lanes[Self.place(of: .work)] }

    /// The app with which a job waits for its turn: that of its next device.
    func flow(of work: DispatchJob, device: Int) -> Int {
        guard isShared else { return 0 }
        if work.renderings.count == 1, work.assignments.isEmpty { return work.renderings[0].app.index }
        return rendering(of: device, in: work).map { work.renderings[$0].app.index } ?? ledgers.count - 1
    }

    /// Sends the waiting pushes of a lane as far as its window allows, in turns of the apps.
    mutating func sendWaiting(
        _ lane: DeliveryClass, window: Int, pushesMaximum: Int = .max, into actions: inout DispatchActions
    ) {
        let place = Self.place(of: lane)
        let outMaximum = pushesMaximum < window ? min(window, lanes[place].pushesOut + pushesMaximum) : window
        var passes = 0
        while let turn = lanes[place].queue.turn, passes < lanes[place].queue.activeFlowCount {
            guard lanes[place].pushesOut < outMaximum else { return }
            let (work, device) = jobs.modify(turn.element) { ($0.work, $0.nextDevice) }
            let room = min(
                turn.allowance, lanes[place].room(flow: turn.flow, window: window), outMaximum - lanes[place].pushesOut)
            if room > 0 || isHeld(device, work) {
                passes = 0
                serve(work, from: device, turn, place, unitsMaximum: max(room, 1), into: &actions)
            } else {
                lanes[place].queue.pass()
                passes += 1
            }
        }
    }

    /// Sends to some devices of the job whose turn it is, from one on.
    private mutating func serve(
        _ work: DispatchJob, from first: Int, _ turn: FairQueue<UInt64>.Turn, _ place: Int, unitsMaximum: Int,
        into actions: inout DispatchActions
    ) {
        let number = turn.element
        let end = min(work.devices.count, first + unitsMaximum)
        let mayMove = isShared && (work.renderings.count > 1 || !work.assignments.isEmpty)
        let pushesBefore = pushes.count
        var flow = turn.flow
        var device = first
        while device < end, flow == turn.flow {
            if let failure = send(device, of: number, work, into: &actions) {
                jobs.modify(number) { $0.failed(device, failure) }
            }
            device += 1
            if mayMove, device < work.devices.count { flow = self.flow(of: work, device: device) }
        }
        let sent = pushes.count - pushesBefore
        jobs.modify(number) { job in
            job.nextDevice = device
            job.pushesOut += sent
        }
        let rest = work.devices.count - device
        let isMoved = rest > 0 && flow != turn.flow
        lanes[place].served(devices: device - first, flow: turn.flow, isFinished: rest == 0 || isMoved)
        if isMoved { lanes[place].moved(number, devices: rest, from: turn.flow, to: flow) }
        if rest == 0 { jobAdvanced(number, into: &actions) }
    }

    /// Whether a push that waits would not go out, so that it needs no room.
    private func isHeld(_ device: Int, _ work: DispatchJob) -> Bool {
        guard let rendering = rendering(of: device, in: work) else { return true }
        return health.isUnreachable(route: route(of: device, rendering, work))
    }

    // MARK: The bulk lane

    /// How many pushes of large fan-outs may be out: all that there is room for, unless small events are under way.
    var bulkPushesMaximum: Int { isBulkRestricted ? bulkWindow.size : limits.pushesInFlightMaximum }

    /// Whether large fan-outs may use only the capacity that small events leave: some are under way, or were lately.
    public var isBulkRestricted: Bool {
        let work = Self.place(of: .work)
        if lanes[work].pushesOut > 0 || lanes[work].devicesWaiting > 0 { return true }
        guard let arrived = workArrived else { return false }
        return latest.monotonic.milliseconds(since: arrived) < Self.workPresenceMilliseconds
    }

    /// Sends the waiting pushes of large fan-outs: evenly spread while small events share the way, else at once.
    mutating func sendWaitingFanOuts(into actions: inout DispatchActions) {
        guard isBulkRestricted, let rate = bulkWindow.pushesPerMillisecond else {
            return sendWaiting(.fanout, window: bulkPushesMaximum, into: &actions)
        }
        let place = Self.place(of: .fanout)
        let allowance = bulkPace.allowance(perMillisecond: rate, at: latest.monotonic)
        let before = lanes[place].pushesOut
        sendWaiting(.fanout, window: bulkPushesMaximum, pushesMaximum: allowance, into: &actions)
        bulkPace.wentOut(lanes[place].pushesOut - before)
    }

    /// Whether pushes of large fan-outs wait only so that they go out evenly: more may be sent in a millisecond.
    public var isBulkPaced: Bool {
        let bulk = lanes[Self.place(of: .fanout)]
        return !bulk.queue.isEmpty && isBulkRestricted && bulk.pushesOut < bulkPushesMaximum
    }
}
