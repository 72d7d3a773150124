public import ConnectionPool
import Essentials
internal import EventLoop
internal import Notifications
public import ServiceClient

/// One pool of connections to FCM: the app of one Firebase project.
public struct FCMRoute: Sendable {
    /// Google's host (Google, REST reference of FCM v1).
    public static let defaultHost = "fcm.googleapis.com"

    /// The bounds of a pool that suit FCM.
    ///
    /// Google asks for a timeout of at least ten seconds ("Scale your FCM sending"). It closes connections that were
    /// quiet for about three minutes, so a PING keeps them (firebase-admin-java 1028).
    public static var defaultLimits: PoolLimits {
        var limits = PoolLimits()
        limits.idlePingNanoseconds = 120_000_000_000
        return limits
    }

    /// The name of the app, for logs and metrics.
    public var app: String
    /// The project: its identifier or its number.
    public var projectID: String
    /// Where messages are sent to.
    public var endpoint: ServiceEndpoint
    /// A PEM file with a certificate to trust besides the system's, for a simulator or a proxy.
    public var extraTrustAnchorsFile: String?
    /// The access token; routes with the same account share one source.
    public var tokenSource: AccessTokenSource
    /// The bounds of the pool.
    public var limits: PoolLimits
    /// The HTTP proxy through which connections are made.
    public var proxy: HTTPProxy?
    /// Whether the answers to accepted messages have their names: a JSON text to read for each.
    public var readsNames = false

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - projectID: the project: its identifier or its number.
    ///   - endpoint: `host` or `host:port`; empty for Google's.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - tokenSource: the access token.
    ///   - limits: the bounds of the pool.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is not of that form, or the project cannot be part
    ///   of a path.
    public init(
        app: String, projectID: String, endpoint: String = "", extraTrustAnchorsFile: String? = nil,
        tokenSource: AccessTokenSource, limits: PoolLimits = FCMRoute.defaultLimits, proxy: HTTPProxy? = nil
    ) throws(ServiceError) {
        guard Self.isProject(projectID) else {
            throw ServiceError(
                .routeInvalid,
                "the project \"\(String(projectID.prefix(64)).printable())\" must be 1 to 64 lower-case letters, "
                    + "digits, '-', ':' and '.', as in the Firebase console")
        }
        self.app = app
        self.projectID = projectID
        self.endpoint = try ServiceEndpoint(endpoint, defaultHost: Self.defaultHost)
        self.extraTrustAnchorsFile = extraTrustAnchorsFile
        self.tokenSource = tokenSource
        self.limits = limits
        self.proxy = proxy
    }

    /// The route as the client takes it.
    public var serviceRoute: ServiceRoute {
        ServiceRoute(
            service: .fcm, app: app, name: projectID, endpoint: endpoint,
            extraTrustAnchorsFile: extraTrustAnchorsFile, authorizer: tokenSource, limits: limits, proxy: proxy,
            makeAdapter: { [projectID, readsNames] authority in
                FCMAdapter(
                    authority: authority, projectID: projectID, readsNames: readsNames,
                    nowSeconds: { WallClock.nowMilliseconds() / 1_000 })
            })
    }

    /// Whether a text can name a project (Google, "Creating and managing projects"; old ones have a domain in front).
    public static func isProject(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
                default: false
                }
            }
    }
}
