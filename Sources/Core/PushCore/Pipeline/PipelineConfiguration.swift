public import Notifications

/// Everything that the pipeline has to know beside its parts.
public struct PipelineConfiguration: Sendable {
    /// One app, and the identity pools whose dataset events concern it.
    public struct App: Sendable {
        /// Where its pushes go.
        public var route: AppRoute
        /// Its identity pools.
        public var identityPoolIDs: [String]

        /// Creates an app.
        public init(route: AppRoute, identityPoolIDs: [String]) {
            self.route = route
            self.identityPoolIDs = identityPoolIDs
        }
    }

    /// The apps, each at its `route.index`.
    public var apps: [App]
    /// When failed pushes are tried again.
    public var retryPolicy: RetryPolicy
    /// Where requeued messages go.
    public var queues: DispatchQueues
    /// The bounds.
    public var limits: DispatchLimits
    /// How long to wait before the registry is asked again, and before a refused message is published again.
    public var repeatDelayNanoseconds: UInt64 = 1_000_000_000

    /// Creates a configuration.
    public init(
        apps: [App], retryPolicy: RetryPolicy, queues: DispatchQueues, limits: DispatchLimits = DispatchLimits()
    ) {
        self.apps = apps
        self.retryPolicy = retryPolicy
        self.queues = queues
        self.limits = limits
    }
}
