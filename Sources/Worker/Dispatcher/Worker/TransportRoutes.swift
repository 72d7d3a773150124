import Notifications
import PushCore

/// The numbers of the transport's routes: those of each push service follow each other, in the order of the apps.
///
///     APNs production, APNs development of the first app that uses it, … of the second, …
///     FCM of the first app that uses it, … of the second, …
///     fetching of the first app, … of the second, …
struct TransportRoutes {
    /// The routes to APNs.
    let apns: Range<Int>
    /// The routes to FCM.
    let fcm: Range<Int>
    /// The routes to clients that fetch their notifications, one for each app.
    let courier: Range<Int>

    /// Numbers the routes of apps.
    init(_ apps: [Configuration.App]) {
        apns = 0..<2 * apps.count { $0.apns != nil }
        fcm = apns.upperBound..<apns.upperBound + apps.count { $0.fcm != nil }
        courier = fcm.upperBound..<fcm.upperBound + apps.count
    }

    /// The apps as the pipeline knows them: each has a first route, and one for each further push service.
    ///
    /// - Parameter apps: the same apps.
    /// - Returns: one for each app.
    func pipelineApps(_ apps: [Configuration.App]) -> [PipelineConfiguration.App] {
        var (nextAPNs, nextFCM, nextIndex) = (apns.lowerBound, fcm.lowerBound, apps.count)
        return apps.enumerated().map { index, app in
            var platforms: [Platform: Int] = [.courier: courier.lowerBound + index]
            if app.apns != nil {
                platforms[.apns] = nextAPNs
                platforms[.apnsSandbox] = nextAPNs + 1
                nextAPNs += 2
            }
            var routes = [
                AppRoute(
                    index: index, name: app.name, service: app.apns == nil ? .courier : .apns, bundleID: app.bundleID,
                    transportRoutes: platforms)
            ]
            if app.fcm != nil {
                routes.append(
                    AppRoute(
                        index: nextIndex, name: app.name, service: .fcm, bundleID: app.bundleID,
                        transportRoutes: [.gcm: nextFCM]))
                nextFCM += 1
                nextIndex += 1
            }
            return PipelineConfiguration.App(routes: routes, identityPoolIDs: app.identityPools)
        }
    }
}
