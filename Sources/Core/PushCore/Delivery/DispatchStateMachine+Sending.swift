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
    /// - Returns: how it failed, if it cannot be sent and has to be parked.
    mutating func send(
        _ device: Int, of number: UInt64, _ work: DispatchJob, into actions: inout DispatchActions
    ) -> Failure? {
        guard let rendering = sendableRendering(of: device, in: work) else { return unsendable(device, work) }
        let app = work.renderings[rendering].app.index
        if work.parking.hasExpired(nowMilliseconds: latest.wall.milliseconds) {
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
        if let changed = work.changed, !work.parking.isParkedCopy {
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
