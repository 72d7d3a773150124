/// What the admin server answers with; the closures run on the server's thread, for each request.
public struct AdminRoutes: Sendable {
    /// Whether the process works at all: if not, it has better be started again.
    ///
    /// A broker that is away is no reason.
    public let liveness: @Sendable () -> [HealthCheck]
    /// Whether the process does its job at the moment.
    public let readiness: @Sendable () -> [HealthCheck]
    /// All metrics in Prometheus' text format 0.0.4.
    public let metrics: @Sendable () -> String
    /// The name of the program and its version.
    public let version: (product: String, version: String)

    /// Creates routes.
    ///
    /// - Parameters:
    ///   - liveness: the checks of `/livez`.
    ///   - readiness: the checks of `/readyz`.
    ///   - metrics: the body of `/metrics`.
    ///   - product: the name of the program.
    ///   - version: its version.
    public init(
        liveness: @escaping @Sendable () -> [HealthCheck], readiness: @escaping @Sendable () -> [HealthCheck],
        metrics: @escaping @Sendable () -> String, product: String, version: String
    ) {
        self.liveness = liveness
        self.readiness = readiness
        self.metrics = metrics
        self.version = (product, version)
    }
}
