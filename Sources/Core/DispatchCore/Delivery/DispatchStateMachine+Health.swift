import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// The reports of apps' health, and the measures for apps in trouble.
extension DispatchStateMachine {
    /// The transport said whether a route leads to the push service.
    public mutating func routeChanged(_ route: Int, isReachable: Bool) {
        health.routeChanged(route, isReachable: isReachable)
    }

    /// An operator has paused these apps, and no others.
    public mutating func setPaused(_ apps: Set<Int>) { health.setPaused(apps) }

    /// Hands on the changes of apps' health.
    mutating func reportHealth(into actions: inout DispatchActions) {
        guard !health.notices.isEmpty else { return }
        for notice in health.takeNotices() { actions.notices.append(.health(notice)) }
    }

    // MARK: Slow apps

    /// Counts the deliveries of an interactive job under its app.
    ///
    /// - Returns: whether the app is slow and exceeds its share of deliveries, so that the job has to be deferred. Such
    ///   a job is not counted: its quick end says nothing for the app.
    mutating func admit(_ job: inout Job) -> Bool {
        guard isShared, job.work.deliveryClass == .interactive, !job.work.devices.isEmpty else { return false }
        let app = flow(of: job.work, device: 0)
        // The last flow is of devices whose app is not configured.
        guard app < pushCounts.count - 1 else { return false }
        let devicesWaiting = interactiveQueue.devicesWaitingByFlow[app]
        if health.shouldDefer(app: app, devicesWaiting: devicesWaiting, at: latest.monotonic) { return true }
        job.backlogApp = app
        health.deliveriesArrived(job.work.tags.count, app: app, at: latest.monotonic)
        return false
    }

    /// Defers a job: requeues it instead of sending it; no attempt is spent.
    ///
    /// - Returns: whether any of it waits for a retry: not if its time will have passed by then.
    mutating func deferJob(_ number: UInt64) -> Bool {
        let work = work(of: number)
        for device in work.devices.indices {
            let rendering = rendering(of: device, in: work)
            let ending: PushEnding =
                if let sendable = sendableRendering(of: device, in: work) {
                    retry(device, work, app: work.renderings[sendable].app.index, .congested)
                } else {
                    .failed(unsendable(device, work))
                }
            jobs.modify(number) { $0.ended(device, ending, rendering: rendering, at: latest.wall) }
        }
        return jobs.modify(number) { job in
            job.nextDevice = work.devices.count
            return job.failures.contains { failure in
                if case .retry = failure.destination { true } else { false }
            }
        }
    }

    /// Requeues the pushes of slow apps that have been out for too long, which frees their resources for others.
    ///
    /// Such a push counts as one whose deadline has passed: it may have been processed, so a retry may make a
    /// duplicate. Its stream stays open until its own deadline, and keeps its place among the app's pushes until then.
    mutating func abandonOverduePushes(into actions: inout DispatchActions) {
        let now = latest.monotonic
        guard health.looksForOverduePushes(at: now) else { return }
        let overdue = pushes.numbers { push in
            push.job != Push.abandoned && health.isOverdue(app: push.app, sent: push.sent, at: now)
        }
        for number in overdue { abandon(number, into: &actions) }
    }

    private mutating func abandon(_ number: UInt64, into actions: inout DispatchActions) {
        let push = pushes.modify(number) { $0 }
        let work = work(of: push.job)
        guard work.deliveryClass == .interactive else { return }
        pushes.modify(number) { $0.job = Push.abandoned }
        if let announcement = work.announcement {
            announcementsOfAbandonedPushes[number] = (work.devices[push.device].deviceID, announcement)
        }
        let ending = retry(push.device, work, app: push.app, .unanswered)
        let backlogApp = jobs.modify(push.job) { job in
            job.pushesOut -= 1
            job.ended(push.device, ending, push: push, rendering: push.rendering, at: latest.wall)
            return job.backlogApp.take()
        }
        if let backlogApp { health.deliveriesAbandoned(work.tags.count, app: backlogApp) }
        jobAdvanced(push.job, into: &actions)
    }
}
