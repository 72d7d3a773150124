public import Notifications
import RegistryCore

/// Where the API is served, and for which apps and keys.
public struct RegistryServerConfiguration: Sendable {
    /// An address or a name of this machine.
    public var host: String
    /// The port; 0 lets the system choose one.
    public var port: UInt16
    /// The certificate chain and its key as PEM text; nil for plain HTTP.
    public var identity: (certificateChainPEM: String, privateKeyPEM: String)?
    /// The apps; a pool belongs to one of them.
    public var apps: [RegistryAPIApp]
    /// The keys that requests of the Cognito api may be signed with.
    public var accessKeys: [AccessKey]
    /// The keys that requests of the CloudKit api may be signed with.
    public var serverKeys: [ServerKey] = []
    /// The origins whose pages may use the CloudKit api, for example `https://www.example.com`; `*` for every one.
    public var allowedOrigins: [String] = []
    /// How many requests a second each credential may make for long; for a moment four times as many.
    public var requestsPerSecondMaximum = 100
    /// How clients reach the server, for example `https://push.example.com`; nil for the address that is listened on,
    /// which will do if only this machine can reach it.
    public var publicURL: String?
    /// The names by which clients reach it, besides that of `publicURL`, `localhost` and the machine's own.
    ///
    /// `*` stands for all.
    public var hosts: [String] = []
    /// How many connections an address may have; 0 for no limit.
    public var connectionsPerAddressMaximum = 256
    /// The addresses of proxies in front of it, which have no such limit and name the client.
    public var trustedProxies: [String] = []
    /// How long a client that asks for its notifications waits for the next one, in seconds.
    public var courierWaitSecondsMaximum = 50
    /// How long reports of opened pushes are kept, in hours: later ones are refused as too old.
    public var opensKeptHours = OpenReceipt.hoursMaximum
    /// Where the events of `POST /v1/events` go; nil takes none.
    public var events: EventPublishing?

    /// Whether workers keep what became of events, so that clients may ask.
    public var keepsHistory = false

    /// Creates a configuration.
    public init(host: String, port: UInt16, apps: [RegistryAPIApp], accessKeys: [AccessKey]) {
        self.host = host
        self.port = port
        self.apps = apps
        self.accessKeys = accessKeys
    }

    /// The host of `publicURL`, without its port.
    var publicHost: String? {
        guard let publicURL, let authority = publicURL.split(separator: "/").dropFirst().first else { return nil }
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        return String(authority.hasSuffix("]") ? authority : authority[..<end])
    }
}

/// An app as the API knows it.
public struct RegistryAPIApp: Hashable, Sendable {
    /// The name that devices bear.
    public var name: String
    /// The bundle identifier: CloudKit's container is `iCloud.` and this.
    public var bundleID: String
    /// The Cognito identity pools that are the app's.
    public var identityPoolIDs: [String]
    /// The public keys that its messages to browsers are signed with (VAPID, RFC 8292), as uncompressed points of
    /// P-256.
    ///
    /// A page has to subscribe with one of them; if there are none, it is not checked.
    public var applicationServerKeys: [[UInt8]]
    /// To which hosts its pushes to browsers go: a subscription at another one is refused; nil does not check them.
    public var pushHosts: PushHostRule?

    /// Creates an app.
    public init(
        name: String, bundleID: String, identityPoolIDs: [String] = [], applicationServerKeys: [[UInt8]] = [],
        pushHosts: PushHostRule? = nil
    ) {
        self.name = name
        self.bundleID = bundleID
        self.identityPoolIDs = identityPoolIDs
        self.applicationServerKeys = applicationServerKeys
        self.pushHosts = pushHosts
    }
}

/// The API cannot be served.
public struct RegistryServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The certificate or its key cannot be used.
        case certificateInvalid
        /// The public half of a server key cannot be used.
        case serverKeyInvalid
        /// The address cannot be had, or the system gives no thread.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
