public import ConnectionPool
internal import Crypto
internal import EventLoop
public import Notifications

/// One way to a push service: an app at one endpoint.
///
/// Each route has connections of its own, because services bind connections to an account or an environment.
public struct ServiceRoute: Sendable {
    /// The push service.
    public var service: PushService
    /// The name of the app, for logs and metrics.
    public var app: String
    /// The name of the route among those of the app, for logs: an environment, a project, an origin.
    public var name: String
    /// The host to connect to, which is also the name that its certificate must be made out to.
    public var host: String
    /// The port to connect to.
    public var port: UInt16
    /// A PEM file with a certificate to trust besides the system's, for a simulator or a proxy.
    public var extraTrustAnchorsFile: String?
    /// Authenticates the requests.
    public var authorizer: any Authorizer
    /// The bounds of the pool, among them how many connections to keep.
    public var limits: PoolLimits
    /// The HTTP proxy through which connections are made, if the endpoint cannot be reached directly.
    public var proxy: HTTPProxy?
    /// Whether pushes to tokens that were rejected lately travel on a connection of their own.
    public var hasQuarantine: Bool
    /// Decides whether a connection to an address (4 or 16 bytes) may be made; nil for any.
    ///
    /// Only admitted addresses of a look-up are connected to, so that another look-up cannot lead elsewhere.
    public var admitsAddress: (@Sendable ([UInt8]) -> Bool)?
    /// The name of the look-ups that share a bound with those of this route; nil for a host that an operator named.
    ///
    /// A stranger's name may take half a minute to fail, and a thread as long.
    public var lookUpGroup: String?
    /// Called on the client's loop, each time that the endpoint did not negotiate HTTP/2.
    public var http2Missing: (@Sendable () -> Void)?
    /// Makes the adapter of a pool; gets the header `:authority`.
    public var makeAdapter: @Sendable (_ authority: String) -> any ServiceAdapter

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - service: the push service.
    ///   - app: the name of the app.
    ///   - name: the name of the route among those of the app.
    ///   - endpoint: where it leads.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - authorizer: authenticates the requests.
    ///   - limits: the bounds of the pool.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    ///   - hasQuarantine: whether tokens that were rejected lately have a connection of their own.
    ///   - makeAdapter: makes the adapter of a pool.
    public init(
        service: PushService, app: String, name: String, endpoint: ServiceEndpoint,
        extraTrustAnchorsFile: String? = nil, authorizer: any Authorizer, limits: PoolLimits = PoolLimits(),
        proxy: HTTPProxy? = nil, hasQuarantine: Bool = false,
        makeAdapter: @escaping @Sendable (_ authority: String) -> any ServiceAdapter
    ) {
        self.service = service
        self.app = app
        self.name = name
        host = endpoint.host
        port = endpoint.port
        self.extraTrustAnchorsFile = extraTrustAnchorsFile
        self.authorizer = authorizer
        self.limits = limits
        self.proxy = proxy
        self.hasQuarantine = hasQuarantine
        self.makeAdapter = makeAdapter
    }

    /// The host and port as one text, for logs.
    public var endpoint: String { ServiceEndpoint(host: host, port: port).description }

    /// The header `:authority`: the port only if it is not the usual one.
    public var authority: String { port == 443 && !host.contains(":") ? host : endpoint }

    /// Where connections begin: at the endpoint, or at the proxy.
    var nextHop: (host: String, port: UInt16) { proxy.map { ($0.host, $0.port) } ?? (host, port) }

    /// The addresses that the route admits; behind a proxy the name is the proxy's to resolve.
    func admitted(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let admitsAddress, proxy == nil else { return addresses }
        return addresses.filter { admitsAddress($0.hostBytes) }
    }

    /// The TLS context of the route's connections.
    func makeContext() throws(ServiceError) -> TLSContext {
        do throws(CryptoError) {
            return try TLSContext.client(extraTrustAnchorsFile: extraTrustAnchorsFile, applicationProtocols: ["h2"])
        } catch {
            throw ServiceError(
                error.code == .libraryFailed ? .systemFailed : .routeInvalid, "app \(app), \(name): \(error.message)")
        }
    }
}
