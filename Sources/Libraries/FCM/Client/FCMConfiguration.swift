internal import ConnectionPool
internal import FCMTransport
internal import PushLibrary
internal import ServiceClient

/// A Firebase project, and how messages for its apps are sent.
///
/// Configurations with the same service account share one access token; each has connections of its own.
public struct FCMConfiguration: Sendable {
    /// The name that calls use.
    public var name: String
    /// The account that may send; one of another project needs the role Firebase Cloud Messaging API Admin in this one.
    public var serviceAccount: FCMServiceAccount
    /// The project, by its identifier or its number; nil is that of the service account.
    public var projectID: String?
    /// Another server in Google's place, for example a simulator: `host:port`.
    ///
    /// Access tokens come from the `token_uri` of the service account.
    public var endpoint: String?
    /// An HTTP proxy to go through, for messages and access tokens, `http://[user:password@]host:port`; no error prints
    /// it.
    public var proxyURL: String?
    /// A PEM file with a certificate to trust besides the system's, for a simulator.
    public var extraTrustAnchorsFile: String?
    /// How many connections to keep open when there is nothing to send; 0 connects at the first message.
    public var connections = 1
    /// How many connections to open while messages wait; Google lets each carry about 100 at a time.
    public var connectionsMaximum = 16
    /// The most messages that the client sends in a minute, spread evenly: Google's quota of a project.
    ///
    /// The quota is for all senders of the project together. A message whose turn does not come within the `timeout`
    /// ends as not processed.
    public var messagesPerMinute = 600_000
    /// How long a message may wait for a connection, and then again how long its answer may take; less than a day, and
    /// by Google's advice at least ten seconds.
    public var timeout = Duration.seconds(20)

    /// Describes a project.
    ///
    /// - Parameters:
    ///   - name: the name that calls use.
    ///   - serviceAccount: the account that may send.
    ///   - projectID: the project; nil is that of the account.
    public init(name: String = "default", serviceAccount: FCMServiceAccount, projectID: String? = nil) {
        self.name = name
        self.serviceAccount = serviceAccount
        self.projectID = projectID
    }

    /// The way to access tokens.
    var tokenEndpoint: TokenEndpoint { TokenEndpoint(caFile: extraTrustAnchorsFile ?? "", proxy: proxyURL ?? "") }

    /// Makes the route.
    ///
    /// - Parameters:
    ///   - account: the service account, which was read.
    ///   - tokenSource: its access tokens.
    /// - Returns: the route, whose answers have the names of messages.
    /// - Throws: `PushError` (`configurationInvalid`).
    func makeRoute(_ account: ServiceAccount, _ tokenSource: AccessTokenSource) throws(PushError) -> FCMRoute {
        let settings = try ConnectionSettings(name: name, timeout: timeout)
        let project = projectID ?? account.projectID
        guard !project.isEmpty else {
            throw PushError(
                .configurationInvalid, "the service account of \(name) names no project; set projectID to it")
        }
        var limits = settings.limits(
            FCMRoute.defaultLimits, connections: connections, connectionsMaximum: connectionsMaximum)
        limits.pushesPerMinuteMaximum = max(1, messagesPerMinute)
        do throws(ServiceError) {
            var route = try FCMRoute(
                app: name, projectID: project, endpoint: endpoint ?? "", extraTrustAnchorsFile: extraTrustAnchorsFile,
                tokenSource: tokenSource, limits: limits, proxy: try ConnectionSettings.proxy(proxyURL))
            route.readsNames = true
            return route
        } catch { throw PushError(error) }
    }
}
