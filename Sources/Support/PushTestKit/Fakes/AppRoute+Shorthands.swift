public import Notifications

/// The transport's routes of an app, for tests that know what its route for APNs leads to.
extension AppRoute {
    /// The route to Apple's production environment.
    public var productionRoute: Int { known(.apns) }
    /// The route to Apple's development environment.
    public var sandboxRoute: Int { known(.apnsSandbox) }
    /// The route to clients that fetch their notifications.
    public var courierRoute: Int { known(.courier) }

    private func known(_ platform: Platform) -> Int {
        guard let route = transportRoute(to: platform) else {
            preconditionFailure("the route of \(title) does not lead to \(platform.rawValue)")
        }
        return route
    }
}
