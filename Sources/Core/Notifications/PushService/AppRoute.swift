/// The route of one app's pushes to one push service, kept apart from all other routes.
///
/// An app that uses several services has a route for each. The trouble of one service then reaches no other: each route
/// has its own turn, share, breaker and books.
public final class AppRoute: Sendable {
    /// The place of the route in every array that is kept by route.
    ///
    /// The first route of each app comes first, in the order of the configuration.
    public let index: Int
    /// The name of the app, as devices carry it.
    public let name: String
    /// The push service.
    ///
    /// The route for APNs also leads to clients that fetch their notifications, because they get the same contents. An
    /// app without APNs has a route for these alone.
    public let service: PushService
    /// The header `apns-topic` without a suffix.
    public let bundleID: String
    /// The outcomes that the app's backend wants to receive.
    public let outcomes: OutcomeSelection
    /// The transport's routes by the index of their platform; nil for platforms that the route does not serve.
    private let transportRoutes: [Int?]

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - index: its place.
    ///   - name: the name of the app.
    ///   - service: the push service.
    ///   - bundleID: the header `apns-topic` without a suffix.
    ///   - transportRoutes: the transport's route to each platform that is served.
    ///   - outcomes: the outcomes that the app's backend wants to receive.
    public init(
        index: Int, name: String, service: PushService, bundleID: String, transportRoutes: [Platform: Int],
        outcomes: OutcomeSelection = []
    ) {
        self.index = index
        self.outcomes = outcomes
        self.name = name
        self.service = service
        self.bundleID = bundleID
        var routes = [Int?](repeating: nil, count: Platform.allCases.count)
        for (platform, route) in transportRoutes { routes[platform.index] = route }
        self.transportRoutes = routes
    }

    /// Creates the route of an app to APNs, and to clients that fetch their notifications.
    public convenience init(
        index: Int, name: String, bundleID: String, productionRoute: Int, sandboxRoute: Int, courierRoute: Int,
        outcomes: OutcomeSelection = []
    ) {
        self.init(
            index: index, name: name, service: .apns, bundleID: bundleID,
            transportRoutes: [.apns: productionRoute, .apnsSandbox: sandboxRoute, .courier: courierRoute],
            outcomes: outcomes)
    }

    /// The transport's route to devices of a platform; nil if this route does not serve it.
    public func transportRoute(to platform: Platform) -> Int? { transportRoutes[platform.index] }

    /// Whether a route of the transport is one of these.
    public func has(transportRoute: Int) -> Bool { transportRoutes.contains(transportRoute) }

    /// The name of the app, and of the push service if it is not APNs, for people.
    public var title: String { service == .apns ? name : "\(name) (\(service.title))" }
}
