import EventLoop
import Metrics
import Notifications
import PushCore

/// What the pipeline does when APNs cannot be reached, and how it shows apps that are in trouble.
extension Pipeline {
    /// The transport said which routes lead to APNs.
    func routesChanged(_ changes: [RouteChange]) {
        for change in changes { machine.routeChanged(change.route, isReachable: change.isReachable) }
        reportUnreachableRoutes(changes)
        if machine.isEverythingUnreachable != isPaused, !isDraining { pauseOrResume() }
        scheduleFlush()
    }

    /// Consumes nothing while nothing could be sent for any app.
    ///
    /// The backlog stands in the broker, where it is durable and costs no memory here. What is in hand is parked.
    private func pauseOrResume() {
        isPaused = machine.isEverythingUnreachable
        if isPaused {
            parts.source.pause()
            health.set(.apns, "APNs cannot be reached for any app; nothing is consumed until it can")
            logger.log(
                .error, "consumer.paused",
                [
                    .field("reason", "APNs cannot be reached for any app"),
                    .field("advice", "Check the network and the proxy; events wait in RabbitMQ, and none is lost."),
                ])
        } else {
            parts.source.resume()
            health.set(.apns, nil)
            logger.log(.info, "consumer.resumed", [.field("reason", "APNs can be reached again")])
        }
    }

    private func reportUnreachableRoutes(_ changes: [RouteChange]) {
        for change in changes {
            guard let name = renderer.appName(ofRoute: change.route) else { continue }
            if change.isReachable {
                guard unreachableRoutes.remove(change.route) != nil else { continue }
                logger.log(.info, "apns.reachable", [.field("app", name), .field("route", change.route)])
            } else {
                unreachableRoutes.insert(change.route)
                logger.log(
                    .warning, "apns.unreachable",
                    [
                        .field("app", name), .field("route", change.route),
                        .field("advice", "Pushes of this route wait in the retry queues, and no attempt is spent."),
                    ])
            }
        }
        metrics.unreachableRoutes.set(unreachableRoutes.count)
    }

    /// Says which apps have become slow, or are so no more.
    func reportSlowApps() {
        let slow = machine.slowApps
        guard slow != slowApps else { return }
        for app in slow where !slowApps.contains(app) {
            logger.log(
                .warning, "app.slow",
                [
                    .field("app", renderer.appName(at: app)),
                    .field("advice", "Its pushes hardly end; what exceeds its share waits in the retry queues."),
                ])
        }
        slowApps = slow
        metrics.slowApps.set(slow.count)
    }

    /// Looks again at apps that may be slow, even if nothing arrives and nothing ends until then.
    func lookAtLoadsLater() {
        guard machine.isWatchingLoads, !isLoadLookScheduled else { return }
        isLoadLookScheduled = true
        loop.schedule(afterNanoseconds: Self.loadLookDelayNanoseconds) { [self] in
            isLoadLookScheduled = false
            scheduleFlush()
        }
    }
}
