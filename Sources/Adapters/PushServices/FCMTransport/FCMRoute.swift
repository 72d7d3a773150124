public import ConnectionPool
import Essentials
internal import EventLoop
internal import Notifications
public import ServiceClient

/// The way to FCM: the app of one Firebase project.
public enum FCMRoute {
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

    /// Makes a route.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - projectID: the project: its identifier or its number.
    ///   - endpoint: `host` or `host:port`; empty for Google's.
    ///   - extraTrustAnchorsFile: a PEM file to trust besides the system's.
    ///   - tokenSource: the access token; routes with the same account share one source.
    ///   - limits: the bounds of the pool.
    ///   - proxy: the HTTP proxy to go through; nil for none.
    ///   - readsNames: whether the answers to accepted messages have their names: a JSON text to read for each.
    /// - Returns: the route as the client takes it.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is not of that form, or the project cannot be part
    ///   of a path.
    public static func make(
        app: String, projectID: String, endpoint: String = "", extraTrustAnchorsFile: String? = nil,
        tokenSource: AccessTokenSource, limits: PoolLimits = FCMRoute.defaultLimits, proxy: HTTPProxy? = nil,
        readsNames: Bool = false
    ) throws(ServiceError) -> ServiceRoute {
        guard isProject(projectID) else {
            throw ServiceError(
                .routeInvalid,
                "the project \"\(String(projectID.prefix(64)).printable())\" must be 1 to 64 lower-case letters, "
                    + "digits, '-', ':' and '.', as in the Firebase console")
        }
        return ServiceRoute(
            service: .fcm, app: app, name: projectID,
            endpoint: try ServiceEndpoint(endpoint, defaultHost: defaultHost),
            extraTrustAnchorsFile: extraTrustAnchorsFile, authorizer: tokenSource, limits: limits, proxy: proxy,
            makeAdapter: { authority in
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
