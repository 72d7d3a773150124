/// Sends pushes.
///
/// All methods may be called from any thread.
public protocol PushTransport: AnyObject, Sendable {
    /// Begins to connect; results go to the handler.
    func start(handler: any PushTransportHandler)

    /// Sends pushes; each gets exactly one result. How many may be outstanding is the sender's to limit.
    func send(_ requests: [PushRequest])

    /// Closes every connection; outstanding pushes end as ambiguous or not processed.
    func close() async
}

/// Takes the results of a `PushTransport`; called on the transport's own thread, so it must only pass them on.
public protocol PushTransportHandler: AnyObject, Sendable {
    /// Attempts ended, batched by tick.
    func pushesEnded(_ results: [PushResult])

    /// It became known whether routes lead to the push service, batched by tick: each change once, the first one when
    /// it is known for the first time.
    func routesChanged(_ changes: [RouteChange])
}

extension PushTransportHandler {
    /// Does nothing: for a sender whose pushes may wait until their deadline.
    public func routesChanged(_ changes: [RouteChange]) {}
}

/// Whether a route of a `PushTransport` leads to the push service, as far as is known.
public struct RouteChange: Hashable, Sendable {
    /// The route.
    public var route: Int
    /// Whether there is a connection; false if connecting failed again and again, or pushes waited in vain.
    public var isReachable: Bool

    /// Creates a change.
    public init(route: Int, isReachable: Bool) {
        self.route = route
        self.isReachable = isReachable
    }
}

/// Where the pushes of one app go: its name and the transport's routes for its devices.
public final class AppRoute: Sendable {
    /// The app's index in the configuration, and in every array that is kept by app.
    public let index: Int
    /// The app's name, as devices carry it.
    public let name: String
    /// The header `apns-topic` without a suffix.
    public let bundleID: String
    /// The transport's route to Apple's production environment.
    public let productionRoute: Int
    /// The transport's route to Apple's development environment.
    public let sandboxRoute: Int
    /// The transport's route to clients that fetch their notifications.
    public let webRoute: Int

    /// Creates a route.
    public init(
        index: Int, name: String, bundleID: String, productionRoute: Int, sandboxRoute: Int, webRoute: Int
    ) {
        self.index = index
        self.name = name
        self.bundleID = bundleID
        self.productionRoute = productionRoute
        self.sandboxRoute = sandboxRoute
        self.webRoute = webRoute
    }
}
