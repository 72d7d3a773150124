import DispatchCore
import Notifications
import WorkerConfiguration

/// The numbers of the transport's routes: those of each push service follow each other, in the order of the apps.
///
///     APNs production, APNs development of the first app that uses it, … of the second, …
///     FCM of the first app that uses it, … of the second, …
///     ADM of the first app that uses it, … of the second, …
///     browsers of the first app that pushes to them, … of the second, …
///     fetching of the first app, … of the second, …
struct TransportRoutes {
    /// The routes to APNs.
    let apns: Range<Int>
    /// The routes to FCM.
    let fcm: Range<Int>
    /// The routes to ADM.
    let adm: Range<Int>
    /// The routes to browsers.
    let webPush: Range<Int>
    /// The routes to clients that fetch their notifications, one for each app.
    let courier: Range<Int>

    /// Numbers the routes of apps.
    init(_ apps: [Configuration.App]) {
        apns = 0..<2 * apps.count { $0.apns != nil }
        fcm = apns.upperBound..<apns.upperBound + apps.count { $0.fcm != nil }
        adm = fcm.upperBound..<fcm.upperBound + apps.count { $0.adm != nil }
        webPush = adm.upperBound..<adm.upperBound + apps.count { $0.webPush != nil }
        courier = webPush.upperBound..<webPush.upperBound + apps.count
    }

    /// The apps as the pipeline knows them: each has a first route, and one for each further push service.
    ///
    /// - Parameter apps: the same apps.
    /// - Returns: one for each app.
    func pipelineApps(_ apps: [Configuration.App]) -> [PipelineConfiguration.App] {
        var (apns, fcm, adm, webPush) = (apns, fcm, adm, webPush)
        var further = apps.count...
        return apps.enumerated().map { index, app in
            var platforms: [Platform: Int] = [.courier: courier.lowerBound + index]
            if app.apns != nil {
                platforms[.apns] = apns.popFirst()
                platforms[.apnsSandbox] = apns.popFirst()
            }
            var routes = [
                AppRoute(
                    index: index, name: app.name, service: app.apns == nil ? .courier : .apns, bundleID: app.bundleID,
                    transportRoutes: platforms, outcomes: app.outcomes)
            ]
            func add(_ service: PushService, _ platform: Platform, _ route: Int?) {
                routes.append(
                    AppRoute(
                        index: further.lowerBound, name: app.name, service: service, bundleID: app.bundleID,
                        transportRoutes: route.map { [platform: $0] } ?? [:], outcomes: app.outcomes))
                further = (further.lowerBound + 1)...
            }
            if app.fcm != nil { add(.fcm, .gcm, fcm.popFirst()) }
            if app.adm != nil { add(.adm, .adm, adm.popFirst()) }
            if app.webPush != nil { add(.webPush, .webPush, webPush.popFirst()) }
            return PipelineConfiguration.App(
                routes: routes, identityPoolIDs: app.identityPools, reportsOpens: app.reportsOpens)
        }
    }
}
