public import HTTPClient
public import Notifications

/// One way to a push service that speaks HTTP/1.1: an app at one endpoint.
///
/// Connections are shared by the routes to the same host; how many requests are under way is each route's own.
public struct HTTP1Route: Sendable {
    /// The push service.
    public var service: PushService
    /// The name of the app, for logs and metrics.
    public var app: String
    /// The name of the route among those of the app, for logs.
    public var name: String
    /// Where it leads.
    public var endpoint: ServiceEndpoint
    /// A PEM file with a certificate to trust besides the system's, for a simulator or a proxy.
    public var extraTrustAnchorsFile: String?
    /// Authenticates the requests.
    public var authorizer: any Authorizer
    /// The bounds of the route.
    public var limits: HTTP1Limits
    /// The HTTP proxy through which connections are made, if the endpoint cannot be reached directly.
    public var proxy: HTTPProxy?
    /// Which of the endpoint's addresses may be connected to, given as 4 or 16 bytes; nil for all, and with a proxy.
    public var admitsAddress: (@Sendable ([UInt8]) -> Bool)?
    /// Makes the route's adapter.
    public var makeAdapter: @Sendable () -> any HTTP1Adapter

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - service: the push service.
    ///   - app: the name of the app.
    ///   - name: the name of the route among those of the app.
    ///   - endpoint: where it leads.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - authorizer: authenticates the requests.
    ///   - limits: the bounds of the route.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    ///   - admitsAddress: which of the endpoint's addresses may be connected to; nil for all.
    ///   - makeAdapter: makes the route's adapter.
    public init(
        service: PushService, app: String, name: String, endpoint: ServiceEndpoint,
        extraTrustAnchorsFile: String? = nil, authorizer: any Authorizer, limits: HTTP1Limits = HTTP1Limits(),
        proxy: HTTPProxy? = nil, admitsAddress: (@Sendable ([UInt8]) -> Bool)? = nil,
        makeAdapter: @escaping @Sendable () -> any HTTP1Adapter
    ) {
        self.service = service
        self.app = app
        self.name = name
        self.endpoint = endpoint
        self.extraTrustAnchorsFile = extraTrustAnchorsFile
        self.authorizer = authorizer
        self.limits = limits
        self.proxy = proxy
        self.admitsAddress = admitsAddress
        self.makeAdapter = makeAdapter
    }

    /// The endpoint as the mechanism takes it.
    var destination: PostDestination {
        var destination = PostDestination(endpoint, extraTrustAnchorsFile: extraTrustAnchorsFile, proxy: proxy)
        destination.admitsAddress = admitsAddress
        return destination
    }
}

extension PostDestination {
    /// An endpoint as `HTTPMultiClient` takes it.
    ///
    /// - Parameters:
    ///   - endpoint: the host and the port.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    public init(_ endpoint: ServiceEndpoint, extraTrustAnchorsFile: String?, proxy: HTTPProxy?) {
        self.init(
            host: endpoint.host, port: endpoint.port, caFile: extraTrustAnchorsFile ?? "",
            proxy: proxy.map { PostProxy(host: $0.host, port: $0.port, authorization: $0.authorization) })
    }
}

/// The bounds of one route over HTTP/1.1.
public struct HTTP1Limits: Hashable, Sendable {
    /// The most requests under way, each of which occupies a connection.
    public var concurrentRequestsMaximum = 16
    /// The most pushes that wait or are under way; one more ends at once as not processed.
    public var outstandingMaximum = 65_536
    /// How long a push may wait for its turn, and then again how long its answer may take.
    public var deadlineNanoseconds: UInt64 = 20_000_000_000

    /// Creates the usual bounds.
    public init() {}
}
