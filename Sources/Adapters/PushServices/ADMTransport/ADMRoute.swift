public import Metrics
import Notifications
public import ServiceClient
public import StructuredLogging

/// The way of an app to Amazon Device Messaging.
public enum ADMRoute {
    /// Amazon's host (Amazon, "Send a message", ADM).
    public static let defaultHost = "api.amazon.com"

    /// Makes a route.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - endpoint: `host` or `host:port`; empty for Amazon's.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - tokenSource: the app's access token.
    ///   - limits: the bounds of the route.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    ///   - logger: where replaced registration IDs are logged.
    ///   - metrics: where they are counted.
    /// - Returns: the route as the client takes it.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is not of that form.
    public static func make(
        app: String, endpoint: String = "", extraTrustAnchorsFile: String? = nil, tokenSource: AccessTokenSource,
        limits: HTTP1Limits = HTTP1Limits(), proxy: HTTPProxy? = nil, logger: Logger, metrics: MetricsRegistry
    ) throws(ServiceError) -> HTTP1Route {
        let replaced = metrics.counter(
            "apus_push_registrations_replaced_total",
            help: "Answers with another registration ID than the push's.",
            labels: [.init("app", app), .init("service", PushService.adm.rawValue)],
            appears: .onceUsed)
        return HTTP1Route(
            service: .adm, app: app, name: "adm", endpoint: try ServiceEndpoint(endpoint, defaultHost: defaultHost),
            extraTrustAnchorsFile: extraTrustAnchorsFile, authorizer: tokenSource, limits: limits, proxy: proxy,
            makeAdapter: { ADMAdapter(app: app, logger: logger, replaced: replaced) })
    }
}
