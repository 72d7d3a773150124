public import Metrics
import Notifications
public import ServiceClient
public import StructuredLogging

/// The client of push services, when its routes lead to APNs.
public typealias APNsClient = ServiceClient

extension ServiceClient {
    /// Prepares a client for APNs; it connects when it is started.
    ///
    /// - Parameters:
    ///   - configuration: the routes and the times.
    ///   - loopName: the name of the loop's thread.
    ///   - logger: where connections that come and go are logged.
    ///   - metrics: where the client's instruments are made.
    /// - Throws: `ServiceError` with `routeInvalid` if a trust anchor cannot be read, `systemFailed` if there is no
    ///   thread.
    public convenience init(
        configuration: APNsClientConfiguration, loopName: String = "apns", logger: Logger, metrics: MetricsRegistry
    ) throws(ServiceError) {
        for route in configuration.routes {
            route.tokenSource.count { keyID in
                metrics.counter(
                    "apus_apns_provider_tokens_minted_total", help: "Provider tokens signed, by key.",
                    labels: [.init("key_id", keyID)])
            }
        }
        try self.init(
            routes: configuration.routes.map(\.serviceRoute), loopName: loopName, logger: logger, metrics: metrics,
            closeTimeoutNanoseconds: configuration.closeTimeoutNanoseconds, seed: configuration.seed)
    }
}

/// The configuration of an `APNsClient`.
public struct APNsClientConfiguration: Sendable {
    /// The pools; the index of a route in this array is the `route` of a `PushRequest`.
    public var routes: [APNsRoute]
    /// The longest time that `close` waits for answers to pushes in flight, in nanoseconds.
    public var closeTimeoutNanoseconds: UInt64 = 5_000_000_000
    /// The seed of the pools' jitter; nil draws one.
    public var seed: UInt64?

    /// Creates a configuration with the default times.
    public init(routes: [APNsRoute]) { self.routes = routes }
}
