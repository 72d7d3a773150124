import Backoffice
import DispatchCore
import Metrics
import Notifications

/// How a pipeline is doing at a moment, for the report of its worker.
struct PipelineStatus: Sendable {
    /// The apps of the configuration, and `unknown`.
    var apps: [WorkerStatus.App]
    /// Whether nothing is consumed, because nothing could be sent.
    var isConsumptionStopped: Bool
    /// How many deliveries are taken and not settled.
    var unsettledDeliveries: Int
    /// The upper bounds of the buckets of the lag, in seconds.
    var lagBoundsSeconds: [Double]
    /// How many pushes fell into each bucket since the start, and above the last.
    var lagCounts: [Int]
}

extension Pipeline {
    /// How it is doing now.
    var status: PipelineStatus {
        let dispatch = machine.dispatch
        var apps = dispatch.pushCounts.enumerated().map { index, ledger in
            let route = machine.renderer.route(at: index)
            var app = WorkerStatus.App(name: route?.title ?? "unknown")
            app.totals = ledger
            if let route { app.problems = problems(of: route, dispatch.health) }
            return app
        }
        // Whole events belong to no app that is known, and count among the dead letters all the same.
        apps[apps.count - 1].totals.deadLettered += dispatch.eventsDeadLettered
        return PipelineStatus(
            apps: apps, isConsumptionStopped: machine.consumptionStop != nil,
            unsettledDeliveries: dispatch.health.unsettledDeliveries,
            lagBoundsSeconds: metrics.lag.boundsSeconds, lagCounts: metrics.lag.bucketCounts)
    }

    /// The problems of an app at one push service, in the words of the log.
    private func problems(of route: AppRoute, _ health: AppHealth) -> [String] {
        let service = route.service.title
        var problems: [String] = []
        problems += Self.refusals(of: route, health)
        if health.doubtedApps.contains(route.index) {
            problems.append("\(service) calls most of its tokens bad; check platform and credentials")
        }
        for platform in Platform.allCases {
            guard let transport = route.transportRoute(to: platform), health.isUnreachable(route: transport) else {
                continue
            }
            problems.append("\(Self.server(of: platform)) cannot be reached")
        }
        return problems + serviceProblems(of: route, health)
    }

    /// The refusals of credentials, by environment; origins of browsers are counted.
    private static func refusals(of route: AppRoute, _ health: AppHealth) -> [String] {
        let scopes = health.refusedScopes(app: route.index)
        if scopes.isEmpty { return [] }
        if route.service == .webPush, !health.isKeyRefused(app: route.index) {
            return ["\(scopes.count) origins of browsers refuse its key, others accept it; their pushes wait"]
        }
        guard route.service == .apns else {
            return ["\(route.service.title) does not accept its credentials; its pushes wait"]
        }
        return [Platform.apns, .apnsSandbox].filter { platform in
            scopes.contains { $0.route == route.transportRoute(to: platform) }
        }.map { "\(server(of: $0)) does not accept its credentials; pushes to it wait" }
    }

    private static func server(of platform: Platform) -> String {
        guard platform.isAPNs else { return platform.service.title }
        return platform == .apns ? "APNs' production server" : "APNs' development server"
    }
}
