import Essentials
import Notifications

/// Who may send next: turns between apps, the share of the bulk lane, and apps that are too slow.
extension DispatchStateMachine {
    /// How long after the last small event the bulk lane still leaves room for the next.
    static let workPresenceMilliseconds: Int64 = 1_000
    /// The part of the deliveries in hand that an app may hold in any case.
    private static let leastShareDivisor = 16
    /// How long to wait before all pushes are looked through again for those of slow apps.
    private static let givingUpIntervalMilliseconds: Int64 = 500

    // MARK: Turns

    /// The place of a lane among `lanes`.
    static func place(of lane: DeliveryLane) -> Int { lane == .work ? 0 : 1 }

    var work: DispatchLane { lanes[Self.place(of: .work)] }

    /// The app with which a job waits for its turn: that of its next device.
    func flow(of work: DispatchJob, device: Int) -> Int {
        guard isShared else { return 0 }
        if work.renderings.count == 1, work.assignments.isEmpty { return work.renderings[0].app.index }
        return rendering(of: device, in: work).map { work.renderings[$0].app.index } ?? ledgers.count - 1
    }

    /// Sends what waits in a lane, as far as its window allows, each app in its turn.
    mutating func sendWaiting(
        _ lane: DeliveryLane, window: Int, pushesMaximum: Int = .max, into actions: inout DispatchActions
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
        var flow = turn.flow
        var device = first
        while device < end, flow == turn.flow {
            if let failure = send(device, of: number, work, into: &actions) {
                jobs.modify(number) { $0.failed(device, failure) }
            }
            device += 1
            if mayMove, device < work.devices.count { flow = self.flow(of: work, device: device) }
        }
        jobs.modify(number) { $0.nextDevice = device }
        let rest = work.devices.count - device
        let isMoved = rest > 0 && flow != turn.flow
        lanes[place].served(devices: device - first, flow: turn.flow, isFinished: rest == 0 || isMoved)
        if isMoved { lanes[place].moved(number, devices: rest, from: turn.flow, to: flow) }
        if rest == 0 { jobAdvanced(number, into: &actions) }
    }

    /// Whether a push that waits would not go out, so that it needs no room.
    private func isHeld(_ device: Int, _ work: DispatchJob) -> Bool {
        guard let rendering = rendering(of: device, in: work) else { return true }
        return routes.isUnreachable(route(of: device, rendering, work))
    }

    // MARK: The bulk lane

    /// How many pushes of large fan-outs may be out: all that there is room for, unless small events are under way.
    var bulkPushesMaximum: Int { isBulkRestricted ? bulkWindow.size : limits.pushesInFlightMaximum }

    /// Whether small events are under way, or were a moment ago, so that large fan-outs use only what is left over.
    public var isBulkRestricted: Bool {
        let work = Self.place(of: .work)
        if lanes[work].pushesOut > 0 || lanes[work].devicesWaiting > 0 { return true }
        guard let arrived = workArrived else { return false }
        return latest.monotonic.milliseconds(since: arrived) < Self.workPresenceMilliseconds
    }

    /// Sends what waits of large fan-outs: evenly, unless they have everything for themselves.
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

    mutating func pushWentOut(_ lane: DeliveryLane, app: Int) {
        lanes[Self.place(of: lane)].pushWentOut(app: app)
    }

    mutating func pushEnded(_ lane: DeliveryLane, app: Int) {
        lanes[Self.place(of: lane)].pushEnded(app: app)
    }

    /// Notes how long APNs took to answer a push of a large fan-out.
    mutating func bulkPushWasAnswered(afterNanoseconds delay: UInt64) {
        bulkWindow.pushEnded(afterNanoseconds: delay, isRestricted: isBulkRestricted, at: latest.monotonic)
    }

    // MARK: The way to the push service

    /// The transport said whether a route leads to the push service.
    public mutating func routeChanged(_ route: Int, isReachable: Bool) {
        routes.changed(route: route, isReachable: isReachable)
    }

    // MARK: Slow apps

    /// Counts the deliveries of a job of the work lane under its app.
    ///
    /// - Returns: whether the app is slow and has more than its share in hand, so that the job has to be held back.
    ///   Such a job is not counted: that it is soon gone says nothing for the app.
    mutating func takeInHand(_ job: inout Job) -> Bool {
        guard isShared, job.work.lane == .work, !job.work.devices.isEmpty else { return false }
        let app = flow(of: job.work, device: 0)
        guard app < loads.count else { return false }
        guard !isHoldingUp(app) else { return true }
        let deliveries = job.work.tags.count
        job.loadedApp = app
        deliveriesInHand += deliveries
        loads[app].arrived(deliveries, othersEnded: othersEnded(app), at: latest.monotonic)
        return false
    }

    mutating func letGo(_ deliveries: Int, app: Int) {
        loads[app].settled(deliveries, othersEnded: othersEnded(app), at: latest.monotonic)
        deliveriesInHand -= deliveries
        deliveriesEnded += deliveries
    }

    /// A push of an app was answered, whatever the answer.
    mutating func noteAnswer(app: Int) {
        guard isShared else { return }
        loads[app].wasAnswered(othersEnded: othersEnded(app), at: latest.monotonic)
    }

    /// How many deliveries of all other apps have ended so far.
    private func othersEnded(_ app: Int) -> Int { deliveriesEnded - loads[app].ended }

    /// How many deliveries an app may have in hand in any case.
    private var leastShare: Int { limits.deliveriesInHandMaximum / Self.leastShareDivisor }

    private mutating func isHoldingUp(_ app: Int) -> Bool {
        let free = limits.deliveriesInHandMaximum - deliveriesInHand
        let isOverShare =
            loads[app].inHand > max(leastShare, free)
            || work.devicesWaitingByFlow[app] > limits.devicesWaitingMaximum / 2
        return loads[app].isHoldingUp(
            isOverShare: isOverShare, inHandMaximum: limits.deliveriesInHandMaximum, othersEnded: othersEnded(app),
            at: latest.monotonic)
    }

    /// Whether apps have to be looked at again after a while, even if nothing happens: one that is slow may fill all
    /// hands, and then nothing arrives or ends.
    public var isWatchingLoads: Bool {
        isShared && loads.contains { $0.isSlow || $0.inHand > leastShare }
    }

    /// Looks which apps are slow, and gives up what they hold for too long.
    mutating func lookAtLoads(into actions: inout DispatchActions) {
        guard isShared else { return }
        var isAnySlow = false
        for app in loads.indices {
            guard loads[app].isSlow || loads[app].inHand > leastShare || !work.queue.isEmpty(flow: app) else {
                continue
            }
            _ = isHoldingUp(app)
            isAnySlow = isAnySlow || loads[app].isSlow
        }
        if isAnySlow { giveUpOverduePushes(into: &actions) }
    }

    /// Parks a job instead of sending it; no attempt is spent.
    ///
    /// - Returns: whether any of it waits for a retry: not if its time will have passed by then.
    mutating func holdBack(_ number: UInt64) -> Bool {
        let work = work(of: number)
        for device in work.devices.indices {
            let failure: Failure? =
                if let rendering = sendableRendering(of: device, in: work) {
                    retry(device, work, app: work.renderings[rendering].app.index, .congested)
                } else {
                    unsendable(device, work)
                }
            guard let failure else { continue }
            jobs.modify(number) { $0.failed(device, failure) }
        }
        return jobs.modify(number) { job in
            job.nextDevice = work.devices.count
            return job.failures.contains { failure in
                if case .retry = failure.destination { true } else { false }
            }
        }
    }

    /// Parks the pushes of slow apps that have been out for too long, so that what they hold is free for others.
    ///
    /// Such a push is as one whose deadline has passed: it may have been processed, so trying it again may make a
    /// duplicate. Its stream stays open until its own deadline, and keeps its place among the app's pushes until then.
    private mutating func giveUpOverduePushes(into actions: inout DispatchActions) {
        // Looking through all pushes is nothing for every tick. Nor is it done at the first look after a while: if it
        // was the worker that stood still, the answers are there, and have only not been read yet.
        let now = latest.monotonic
        let sinceLast = gaveUp.map { now.milliseconds(since: $0) } ?? .max
        guard sinceLast >= Self.givingUpIntervalMilliseconds else { return }
        gaveUp = now
        guard sinceLast < AppLoad.patienceMilliseconds else { return }
        let overdue = pushes.numbers { push in
            push.job != Push.givenUp && loads[push.app].isSlow
                && now.milliseconds(since: push.sent) >= AppLoad.patienceMilliseconds
        }
        for number in overdue { giveUp(number, into: &actions) }
    }

    private mutating func giveUp(_ number: UInt64, into actions: inout DispatchActions) {
        let push = pushes.modify(number) { $0 }
        let work = work(of: push.job)
        guard work.lane == .work else { return }
        pushes.modify(number) { $0.job = Push.givenUp }
        breakers[push.app].attemptWasUnanswered(at: latest.monotonic)
        let failure = retry(push.device, work, app: push.app, .unanswered)
        let loadedApp = jobs.modify(push.job) { job in
            job.pushesOut -= 1
            if let failure { job.failed(push.device, failure) }
            return job.loadedApp.take()
        }
        if let loadedApp {
            deliveriesInHand -= work.tags.count
            loads[loadedApp].givenUp(work.tags.count)
        }
        jobAdvanced(push.job, into: &actions)
    }
}
