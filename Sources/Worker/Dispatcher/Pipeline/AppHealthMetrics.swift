import Metrics
import PushCore

/// The instruments that say which app is in trouble, and in which.
final class AppHealthMetrics {
    private struct App {
        let unreachableRoutes: Gauge
        let keyRefused: Gauge
        let tokensInDoubt: Gauge
        let slow: Gauge
        let paused: Gauge
        var reported: AppHealth.Troubles = []
    }

    private var apps: [App]
    private let indexByName: [String: Int]

    init(_ registry: MetricsRegistry, appNames: [String]) {
        apps = appNames.map { name in
            func gauge(_ metric: String, help: String) -> Gauge {
                registry.gauge(metric, help: help, labels: [.init("app", name)])
            }
            return App(
                unreachableRoutes: gauge(
                    "apus_app_unreachable_routes",
                    help: "Routes of the app (an environment of APNs, or WEB clients) that lead nowhere."),
                keyRefused: gauge("apus_app_key_refused", help: "1 while APNs does not accept the app's key."),
                tokensInDoubt: gauge(
                    "apus_app_tokens_in_doubt",
                    help: "1 while APNs calls most tokens of the app bad: environment or topic are probably wrong."),
                slow: gauge(
                    "apus_app_slow",
                    help: "1 while the app's pushes hardly end; deliveries above its share wait in retry queues."),
                paused: gauge("apus_app_paused", help: "1 while an operator has paused the app; its pushes wait."))
        }
        indexByName = Dictionary(
            zip(appNames, appNames.indices).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
    }

    /// A route of an app leads nowhere from now on, or to the push service again.
    func routeChanged(app name: String, isReachable: Bool) {
        guard let index = indexByName[name] else { return }
        apps[index].unreachableRoutes.add(isReachable ? -1 : 1)
    }

    /// Brings the gauges up to date; called in every tick, so it touches only what has changed.
    func report(_ health: AppHealth) {
        for index in apps.indices {
            let troubles = health.troubles(of: index)
            guard troubles != apps[index].reported else { continue }
            apps[index].keyRefused.set(troubles.contains(.keyRefused) ? 1 : 0)
            apps[index].tokensInDoubt.set(troubles.contains(.tokensInDoubt) ? 1 : 0)
            apps[index].slow.set(troubles.contains(.slow) ? 1 : 0)
            apps[index].paused.set(troubles.contains(.paused) ? 1 : 0)
            apps[index].reported = troubles
        }
    }
}
