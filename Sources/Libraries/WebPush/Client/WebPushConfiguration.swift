internal import ConnectionPool
internal import Crypto
internal import Notifications
internal import PushLibrary
internal import ServiceClient
internal import WebPushTransport

/// An application server that pushes to browsers, and its settings.
///
/// Endpoints come from outside, so a push goes to port 443 of public addresses only, unless its host is trusted.
public struct WebPushConfiguration: Sendable {
    /// The name of the app, for logs and metrics.
    public var name: String
    /// The key that subscriptions are bound to.
    public var key: VAPIDKey
    /// How a push service reaches the operator of this server: a `mailto:` or `https:` URL with a public host.
    public var subject: String
    /// Whether pushes go only to the services of Chrome, Firefox, Safari and Edge, and to trusted hosts.
    public var allowsOnlyLargeServices = false
    /// Hosts whose addresses and ports are not checked: a simulator, or a service in your own network.
    ///
    /// In small letters. With a port (`localhost:8443`), only that port of the host is trusted.
    public var trustedHosts: Set<String> = []
    /// An HTTP proxy to go through, `http://[user:password@]host:port`; no error prints it.
    ///
    /// The proxy looks up the names then, and has to refuse private addresses itself.
    public var proxyURL: String?
    /// A PEM file with a certificate to trust besides the system's, for a simulator.
    public var extraTrustAnchorsFile: String?
    /// How many connections to open to each large or trusted service while pushes wait; any other gets one.
    public var connectionsMaximum = 8
    /// How many threads encrypt; one encrypts some thousand messages a second.
    public var encryptionThreads = 1
    /// How long a push may wait for a connection, and then again how long its answer may take; less than a day.
    public var timeout = Duration.seconds(20)

    /// Describes an application server.
    ///
    /// - Parameters:
    ///   - name: the name of the app, for logs and metrics.
    ///   - key: the key that subscriptions are bound to.
    ///   - subject: how push services reach you, for example `mailto:push@example.com`.
    public init(name: String = "default", key: VAPIDKey, subject: String) {
        self.name = name
        self.key = key
        self.subject = subject
    }

    func makeTransportConfiguration() throws(PushError) -> WebPushServiceConfiguration {
        let settings = try ConnectionSettings(name: name, timeout: timeout)
        let subject: VAPIDSubject
        do throws(VAPIDError) { subject = try VAPIDSubject(self.subject) } catch {
            throw PushError(.configurationInvalid, error.message)
        }
        var configuration = WebPushServiceConfiguration(
            apps: [.init(name: name, tokens: VAPIDTokenSource(key: key.key, subject: subject))])
        configuration.hosts.refusesUnknownHosts = allowsOnlyLargeServices
        configuration.hosts.trustedHosts = Array(trustedHosts)
        configuration.knownLimits = settings.limits(
            configuration.knownLimits, connectionsMaximum: connectionsMaximum)
        configuration.unknownLimits = settings.limits(configuration.unknownLimits)
        // Each call has a window of its own, so these only bound many calls at once.
        configuration.knownLimits.outstandingMaximum = 65_536
        configuration.unknownLimits.outstandingMaximum = 4_096
        configuration.encryptionWaitingMaximum = 65_536
        configuration.encryptionThreads = max(1, encryptionThreads)
        configuration.extraTrustAnchorsFile = extraTrustAnchorsFile
        do throws(ServiceError) { configuration.proxy = try HTTPProxy.at(proxyURL) } catch {
            throw PushError(error)
        }
        return configuration
    }
}
