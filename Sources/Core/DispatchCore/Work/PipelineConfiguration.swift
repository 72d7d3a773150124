public import ChangeEvents
public import Notifications
public import RegistryCore

/// Everything that the pipeline has to know beside its parts.
public struct PipelineConfiguration: Sendable {
    /// One app, and the identity pools whose dataset events concern it.
    public struct App: Sendable {
        /// Where its pushes go: to APNs and to clients that fetch, and to each further push service.
        public var routes: [AppRoute]
        /// Its identity pools.
        public var identityPoolIDs: [String]
        /// Whether its devices report opened pushes of campaigns.
        var reportsOpens: Bool

        /// Creates an app.
        ///
        /// - Parameters:
        ///   - routes: its routes, at least one, that for APNs first.
        ///   - identityPoolIDs: its identity pools.
        ///   - reportsOpens: whether its devices report opened pushes of campaigns.
        public init(routes: [AppRoute], identityPoolIDs: [String], reportsOpens: Bool = false) {
            precondition(!routes.isEmpty, "an app has a route, whether or not it leads anywhere")
            self.routes = routes
            self.identityPoolIDs = identityPoolIDs
            self.reportsOpens = reportsOpens
        }

        /// Creates an app that uses no further push service.
        public init(route: AppRoute, identityPoolIDs: [String]) {
            self.init(routes: [route], identityPoolIDs: identityPoolIDs)
        }

        /// The name of the app.
        public var name: String { routes[0].name }
    }

    /// The apps.
    public var apps: [App]
    /// When failed pushes are tried again.
    public var retryPolicy: RetryPolicy
    /// Where requeued messages go.
    public var queues: DispatchQueues
    /// The bounds.
    public var limits: DispatchLimits
    /// How long to wait before the registry is asked again, and before a refused message is published again.
    public var repeatDelayNanoseconds: UInt64 = 1_000_000_000
    /// What backends want to hear, by app, if outcomes of all routes are kept in the registry; nil if they are not.
    public var toldOutcomes: [String: OutcomeSelection]?
    /// Proves the receipts in pushes of campaigns; nil if no app reports opened pushes.
    public var receipts: ReceiptAuthentication?
    /// The tables whose changed rows are events.
    public var sources = TableSources()

    /// Creates a configuration.
    public init(
        apps: [App], retryPolicy: RetryPolicy, queues: DispatchQueues, limits: DispatchLimits = DispatchLimits()
    ) {
        self.apps = apps
        self.retryPolicy = retryPolicy
        self.queues = queues
        self.limits = limits
    }

    /// The routes of all apps, each at its `index`.
    public var routes: [AppRoute] { apps.routes }
}

extension [PipelineConfiguration.App] {
    /// The routes of all of them, each at its `index`.
    var routes: [AppRoute] {
        let routes = flatMap(\.routes).sorted { $0.index < $1.index }
        precondition(routes.indices.allSatisfy { routes[$0].index == $0 }, "each route is at its index")
        return routes
    }
}
