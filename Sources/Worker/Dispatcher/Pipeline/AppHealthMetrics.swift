import DispatchCore
import Metrics
import Notifications

/// The instruments that say which app is in trouble, and in which.
final class AppHealthMetrics {
    private struct App {
        let unreachableRoutes: Gauge
        let keyRefused: Gauge
        let tokensInDoubt: Gauge
        let slow: Gauge
        let paused: Gauge
        /// Made when the app is in the trouble for the first time, because most apps never are.
        var failing: [ServiceTrouble: Gauge] = [:]
        var reported: AppHealth.Troubles = []
    }

    private let registry: MetricsRegistry
    private let routes: [AppRoute]
    private var apps: [App]

    init(_ registry: MetricsRegistry, routes: [AppRoute]) {
        self.registry = registry
        self.routes = routes
        apps = routes.map { route in
            func gauge(_ metric: String, help: String) -> Gauge {
                registry.gauge(
                    metric, help: help, labels: [.init("app", route.name), .init("service", route.service.rawValue)],
                    appears: .unlessZero)
            }
            return App(
                unreachableRoutes: gauge(
                    "apus_app_unreachable_routes",
                    help: "Routes of the app (environment of APNs, project of FCM) that lead nowhere."),
                keyRefused: gauge(
                    "apus_app_key_refused", help: "1 while the push service refuses the app's credentials."),
                tokensInDoubt: gauge(
                    "apus_app_tokens_in_doubt",
                    help: "1 while most tokens of the app are called bad."),
                slow: gauge(
                    "apus_app_slow",
                    help: "1 while the app's pushes hardly end."),
                paused: gauge("apus_app_paused", help: "1 while an operator has paused the app."))
        }
    }

    /// A route of an app leads nowhere from now on, or to the push service again.
    func routeChanged(of route: AppRoute, isReachable: Bool) {
        apps[route.index].unreachableRoutes.add(isReachable ? -1 : 1)
    }

    /// Brings the gauges up to date; called in every tick, so it touches only what has changed.
    ///
    /// - Returns: whether anything has changed.
    func report(_ health: AppHealth) -> Bool {
        var hasChanged = false
        for index in apps.indices {
            let troubles = health.troubles(of: index)
            guard troubles != apps[index].reported else { continue }
            apps[index].keyRefused.set(troubles.contains(.keyRefused) ? 1 : 0)
            apps[index].tokensInDoubt.set(troubles.contains(.tokensInDoubt) ? 1 : 0)
            apps[index].slow.set(troubles.contains(.slow) ? 1 : 0)
            apps[index].paused.set(troubles.contains(.paused) ? 1 : 0)
            for trouble in ServiceTrouble.allCases {
                report(trouble, isIn: troubles.contains(trouble.asTroubles), index)
            }
            apps[index].reported = troubles
            hasChanged = true
        }
        return hasChanged
    }

    private func report(_ trouble: ServiceTrouble, isIn: Bool, _ index: Int) {
        if isIn, apps[index].failing[trouble] == nil {
            apps[index].failing[trouble] = registry.gauge(
                "apus_app_failing",
                help: "1 while the push service serves the app badly, by reason.",
                labels: [
                    .init("app", routes[index].name), .init("service", routes[index].service.rawValue),
                    .init("reason", trouble.rawValue),
                ])
        }
        apps[index].failing[trouble]?.set(isIn ? 1 : 0)
    }
}
