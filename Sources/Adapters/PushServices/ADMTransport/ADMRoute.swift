public import Metrics
import Notifications
public import ServiceClient
public import StructuredLogging

/// The way of one app to Amazon Device Messaging.
public struct ADMRoute: Sendable {
    /// Amazon's host (Amazon, "Send a message", ADM).
    public static let defaultHost = "api.amazon.com"

    /// The name of the app, for logs and metrics.
    public var app: String
    /// Where messages go.
    public var endpoint: ServiceEndpoint
    /// A PEM file with a certificate to trust besides the system's, for a simulator or a proxy.
    public var extraTrustAnchorsFile: String?
    /// The app's access token.
    public var tokenSource: AccessTokenSource
    /// The bounds of the route.
    public var limits: HTTP1Limits
    /// The HTTP proxy through which connections are made, if the endpoint cannot be reached directly.
    public var proxy: HTTPProxy?

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - endpoint: `host` or `host:port`; empty for Amazon's.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - tokenSource: the app's access token.
    ///   - limits: the bounds of the route.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is not of that form.
    public init(
        app: String, endpoint: String = "", extraTrustAnchorsFile: String? = nil, tokenSource: AccessTokenSource,
        limits: HTTP1Limits = HTTP1Limits(), proxy: HTTPProxy? = nil
    ) throws(ServiceError) {
        self.app = app
        self.endpoint = try ServiceEndpoint(endpoint, defaultHost: Self.defaultHost)
        self.extraTrustAnchorsFile = extraTrustAnchorsFile
        self.tokenSource = tokenSource
        self.limits = limits
        self.proxy = proxy
    }

    /// The route as the client takes it.
    func http1Route(logger: Logger, metrics: MetricsRegistry) -> HTTP1Route {
        let replaced = metrics.counter(
            "apus_push_registrations_replaced_total",
            help: "Answers with another registration ID than the push's.",
            labels: [.init("app", app), .init("service", PushService.adm.rawValue)],
            appears: .onceUsed)
        return HTTP1Route(
            service: .adm, app: app, name: "adm", endpoint: endpoint, extraTrustAnchorsFile: extraTrustAnchorsFile,
            authorizer: tokenSource, limits: limits, proxy: proxy,
            makeAdapter: { [app] in ADMAdapter(app: app, logger: logger, replaced: replaced) })
    }
}

extension HTTP1Client {
    /// Prepares a client for ADM; it connects when it is started.
    ///
    /// - Parameters:
    ///   - admRoutes: the routes; the index of a route in this array is the `route` of a `PushRequest`.
    ///   - loopName: the name of the loop's thread.
    ///   - logger: where failures are logged.
    ///   - metrics: where the client's instruments are made.
    ///   - closeTimeoutNanoseconds: the longest time that `close` waits for answers to pushes in flight.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread, or libcurl cannot be set up.
    public convenience init(
        admRoutes: [ADMRoute], loopName: String = "adm", logger: Logger, metrics: MetricsRegistry,
        closeTimeoutNanoseconds: UInt64 = 5_000_000_000
    ) throws(ServiceError) {
        try self.init(
            routes: admRoutes.map { $0.http1Route(logger: logger, metrics: metrics) }, loopName: loopName,
            logger: logger, metrics: metrics, closeTimeoutNanoseconds: closeTimeoutNanoseconds)
    }
}
