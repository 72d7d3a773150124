import DispatchCore
import Notifications
import WorkerConfiguration

/// The numbers of the transport's routes: those of each push service follow each other, in the order of the apps.
///
///     APNs production, APNs development of the first app that uses it, … of the second, …
///     FCM of the first app that uses it, … of the second, …
///     … of each further service, in the order of `PushService`
struct TransportRoutes {
    private let routes: [PushService: Range<Int>]

    /// Numbers the routes of apps.
    init(_ apps: [Configuration.App]) {
        var routes: [PushService: Range<Int>] = [:]
        var end = 0
        for service in PushService.allCases {
            let start = end
            end += service.platforms.count * apps.count { $0.uses(service) }
            routes[service] = start..<end
        }
        self.routes = routes
    }

    /// The routes to a push service.
    subscript(service: PushService) -> Range<Int> { routes[service] ?? 0..<0 }

    /// The apps as the pipeline knows them: each has a first route, and one for each further push service.
    ///
    /// - Parameter apps: the same apps.
    /// - Returns: one for each app.
    func pipelineApps(_ apps: [Configuration.App]) -> [PipelineConfiguration.App] {
        var remaining = routes
        var further = apps.count...
        return apps.enumerated().map { index, app in
            func route(_ index: Int, _ service: PushService, _ carriers: [PushService]) -> AppRoute {
                let platforms = carriers.filter(app.uses).flatMap(\.platforms)
                let pairs = platforms.compactMap { platform in
                    remaining[platform.service]?.popFirst().map { (platform, $0) }
                }
                return AppRoute(
                    index: index, name: app.name, service: service, bundleID: app.bundleID,
                    transportRoutes: Dictionary(uniqueKeysWithValues: pairs), outcomes: app.outcomes)
            }
            // The first route also leads to clients that fetch their notifications, which get what an iPhone gets.
            let shared: [PushService] = [.apns, .courier]
            var routes = [route(index, app.uses(.apns) ? .apns : .courier, shared)]
            for service in PushService.allCases where !shared.contains(service) && app.uses(service) {
                routes.append(route(further.lowerBound, service, [service]))
                further = (further.lowerBound + 1)...
            }
            return PipelineConfiguration.App(
                routes: routes, identityPoolIDs: app.identityPools, reportsOpens: app.reportsOpens)
        }
    }
}
