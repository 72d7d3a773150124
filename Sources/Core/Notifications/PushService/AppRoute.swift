/// Where the pushes of one app go: its name and the transport's routes for its devices.
public final class AppRoute: Sendable {
    /// The app's place in the configuration, and in every array that is kept by app.
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
