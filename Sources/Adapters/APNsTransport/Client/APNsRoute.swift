public import ConnectionPool
internal import Crypto

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

    /// The name of the app, for logs and metrics.
    public var app: String
    /// The environment, for logs and for the default host.
    public var environment: Environment
    /// The host to connect to, which is also the name that its certificate must be made out to.
    public var host: String
    /// The port to connect to: 443, or 2197 where a firewall wants to tell pushes apart.
    public var port: UInt16
    /// A PEM file with a certificate to trust besides the system's, for a simulator or a proxy.
    public var extraTrustAnchorsFile: String?
    /// The provider token; routes with the same key share one source.
    public var tokenSource: ProviderTokenSource
    /// The bounds of the pool, among them how many connections to keep.
    public var limits: PoolLimits
    /// The HTTP proxy through which connections are made, if the endpoint cannot be reached directly.
    public var proxy: HTTPProxy?

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
    /// - Throws: `APNsError` with `routeInvalid` if the endpoint is not of that form.
    public init(
        app: String, environment: Environment, endpoint: String = "", port: UInt16 = 443,
        extraTrustAnchorsFile: String? = nil, tokenSource: ProviderTokenSource, limits: PoolLimits = PoolLimits(),
        proxy: HTTPProxy? = nil
    ) throws(APNsError) {
        self.app = app
        self.environment = environment
        (host, self.port) = try Self.parse(endpoint: endpoint, environment: environment, defaultPort: port)
        self.extraTrustAnchorsFile = extraTrustAnchorsFile
        self.tokenSource = tokenSource
        self.limits = limits
        self.proxy = proxy
    }

    /// The host and port as one text, for logs.
    public var endpoint: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Where connections begin: at the endpoint, or at the proxy.
    var nextHop: (host: String, port: UInt16) { proxy.map { ($0.host, $0.port) } ?? (host, port) }

    /// Reads `host`, `host:port`, `[address]` or `[address]:port`.
    private static func parse(
        endpoint: String, environment: Environment, defaultPort: UInt16
    ) throws(APNsError) -> (host: String, port: UInt16) {
        guard !endpoint.isEmpty else { return (environment.host, defaultPort) }
        var host = endpoint[...]
        var port = String(defaultPort)[...]
        if endpoint.hasPrefix("["), let end = endpoint.firstIndex(of: "]") {
            host = endpoint[endpoint.index(after: endpoint.startIndex)..<end]
            let rest = endpoint[endpoint.index(after: end)...]
            if !rest.isEmpty { port = rest.hasPrefix(":") ? rest.dropFirst() : "" }
        } else if let colon = endpoint.lastIndex(of: ":") {
            host = endpoint[..<colon]
            port = endpoint[endpoint.index(after: colon)...]
        }
        guard let number = UInt16(port), number > 0, !host.isEmpty, isHost(host) else {
            throw APNsError(
                .routeInvalid,
                "the endpoint \"\(endpoint.prefix(128))\" must be host or host:port, like \(environment.host):443")
        }
        return (String(host), number)
    }

    /// Whether the text can stand in a name look-up and in the header `:authority`.
    private static func isHost(_ host: Substring) -> Bool {
        host.utf8.count <= 253 && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
    }
}

extension APNsRoute {
    /// The TLS context of the route's connections.
    func makeContext() throws(APNsError) -> TLSContext {
        do throws(CryptoError) {
            return try TLSContext.client(extraTrustAnchorsFile: extraTrustAnchorsFile, applicationProtocols: ["h2"])
        } catch {
            throw APNsError(.routeInvalid, "app \(app), \(environment.rawValue): \(error.message)")
        }
    }
}
