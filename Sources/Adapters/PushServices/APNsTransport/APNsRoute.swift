public import ConnectionPool
internal import Notifications
public import ServiceClient

/// One pool of connections: an app in one environment of APNs.
///
/// Each route has connections of its own, because APNs binds a connection to one developer team and environment.
public struct APNsRoute: Sendable {
    /// Apple's two environments; which one a device token belongs to is decided by how the app was signed.
    public enum Environment: String, CaseIterable, Sendable {
        /// Apps from the App Store, TestFlight and enterprises.
        case production
        /// Apps run from Xcode.
        case sandbox

        /// Apple's host (Apple, "Sending notification requests to APNs").
        public var host: String {
            switch self {
            case .production: "api.push.apple.com"
            case .sandbox: "api.sandbox.push.apple.com"
            }
        }
    }

    /// The route as the client takes it.
    public let serviceRoute: ServiceRoute
    /// The provider token; routes with the same key share one source.
    public let tokenSource: ProviderTokenSource

    /// Creates a route to one of Apple's environments, or to another endpoint in its place.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - environment: the environment.
    ///   - endpoint: `host` or `host:port` (an IPv6 address in brackets); empty for Apple's host.
    ///   - port: the port if the endpoint names none: 443, or 2197.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - tokenSource: the provider token.
    ///   - limits: the bounds of the pool.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is not of that form.
    public init(
        app: String, environment: Environment, endpoint: String = "", port: UInt16 = 443,
        extraTrustAnchorsFile: String? = nil, tokenSource: ProviderTokenSource, limits: PoolLimits = PoolLimits(),
        proxy: HTTPProxy? = nil
    ) throws(ServiceError) {
        self.tokenSource = tokenSource
        serviceRoute = ServiceRoute(
            service: .apns, app: app, name: environment.rawValue,
            endpoint: try ServiceEndpoint(endpoint, defaultHost: environment.host, defaultPort: port),
            extraTrustAnchorsFile: extraTrustAnchorsFile, authorizer: tokenSource, limits: limits, proxy: proxy,
            // APNs may lower the streams of a connection to one after a rejection, and cuts connections with many
            // rejections sooner.
            hasQuarantine: true, makeAdapter: { APNsAdapter(authority: $0) })
    }
}
