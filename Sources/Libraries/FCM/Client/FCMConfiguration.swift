internal import ConnectionPool
internal import FCMTransport
internal import Metrics
internal import PushLibrary
internal import ServiceClient
internal import StructuredLogging

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

    /// Makes the route.
    ///
    /// - Parameters:
    ///   - tokens: the sources of access tokens; gets that of the service account.
    ///   - logger: where the fetching of access tokens is logged.
    ///   - metrics: where it is counted.
    /// - Returns: the route, whose answers have the names of messages.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`, `systemFailed`).
    func makeRoute(
        _ tokens: inout AccessTokenSources<ServiceAccountCredentials>, _ logger: Logger, _ metrics: MetricsRegistry
    ) throws(PushError) -> ServiceRoute {
        var limits = try ConnectionSettings(name: name, timeout: timeout).limits(
            FCMRoute.defaultLimits, connections: connections, connectionsMaximum: connectionsMaximum)
        limits.pushesPerMinuteMaximum = max(1, messagesPerMinute)
        do throws(ServiceError) {
            // A wrong proxy URL must throw here; the source of tokens would find it only with its first fetch.
            let proxy = try HTTPProxy.at(proxyURL)
            let credentials = ServiceAccountCredentials(
                serviceAccount.content,
                endpoint: TokenEndpoint(caFile: extraTrustAnchorsFile ?? "", proxy: proxyURL ?? ""))
            let account = try credentials.account()
            let project = projectID ?? account.projectID
            guard !project.isEmpty else {
                throw ServiceError(
                    .routeInvalid, "the service account of \(name) names no project; set projectID to it")
            }
            let log = AccessTokenLog(
                account: account.email, settings: "serviceAccount", logger: logger, metrics: metrics)
            return try FCMRoute.make(
                app: name, projectID: project, endpoint: endpoint ?? "", extraTrustAnchorsFile: extraTrustAnchorsFile,
                tokenSource: try tokens.source(of: credentials, log: log), limits: limits, proxy: proxy,
                readsNames: true)
        } catch { throw PushError(error) }
    }
}
