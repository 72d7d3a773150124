internal import APNsTransport
internal import ConnectionPool
internal import Crypto
internal import PushLibrary
internal import ServiceClient

/// An app, with its signing key and its push service.
///
/// Configurations with the same key and team share one provider token; each has connections of its own.
public struct PushConfiguration: Sendable {
    /// The name that calls use.
    public var name: String
    /// The app's bundle identifier, from which the topic of each push type is made.
    public var bundleID: String
    /// The signing key.
    public var key: SigningKey
    /// The key's identifier: ten capital letters and digits, checked when a client is made.
    public var keyID: String
    /// The identifier of the developer team: ten capital letters and digits.
    public var teamID: String
    /// Apple's production or sandbox service, or another server.
    public var environment: PushEnvironment
    /// 443, or 2197 where a firewall wants to tell pushes apart.
    public var port: UInt16 = 443
    /// An HTTP proxy to go through, `http://[user:password@]host:port`; no error prints it.
    public var proxyURL: String?
    /// A PEM file with a certificate to trust besides the system's, for a simulator.
    public var extraTrustAnchorsFile: String?
    /// How many connections to keep open when there is nothing to send; 0 connects at the first push.
    public var connections = 1
    /// How many connections to open while pushes wait.
    public var connectionsMaximum = 16
    /// How long a push may wait for a connection, and then again how long its answer may take; less than a day.
    public var timeout = Duration.seconds(20)

    /// Describes an app.
    ///
    /// - Parameters:
    ///   - name: the name that calls use.
    ///   - bundleID: the app's bundle identifier.
    ///   - key: the signing key.
    ///   - keyID: the key's identifier.
    ///   - teamID: the identifier of the developer team.
    ///   - environment: where to send.
    public init(
        name: String = "default", bundleID: String, key: SigningKey, keyID: String, teamID: String,
        environment: PushEnvironment = .production
    ) {
        self.name = name
        self.bundleID = bundleID
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.environment = environment
    }

    func makeRoute() throws(PushError) -> APNsRoute {
        guard !bundleID.isEmpty else {
            throw PushError(
                .configurationInvalid, "bundleID of \(name) is empty; it is the app's, like com.example.chat")
        }
        let settings = try ConnectionSettings(name: name, timeout: timeout)
        let signingKey = try key.read()
        do throws(ServiceError) {
            let (environment, endpoint) = environment.route
            return try APNsRoute(
                app: name, environment: environment, endpoint: endpoint, port: port,
                extraTrustAnchorsFile: extraTrustAnchorsFile,
                tokenSource: try ProviderTokenSource.shared(key: signingKey, keyID: keyID, teamID: teamID),
                limits: settings.limits(
                    PoolLimits(), connections: connections, connectionsMaximum: connectionsMaximum),
                proxy: try HTTPProxy.at(proxyURL))
        } catch { throw PushError(error) }
    }
}

/// Apple's service for the pushes; an app's signature decides for which one its tokens are valid.
public enum PushEnvironment: Hashable, Sendable {
    /// Apps from the App Store, TestFlight and enterprises.
    case production
    /// Apps run from Xcode.
    case sandbox
    /// Another server in Apple's place, for example a simulator: `host:port`.
    case endpoint(String)

    var route: (environment: APNsRoute.Environment, endpoint: String) {
        switch self {
        case .production: (.production, "")
        case .sandbox: (.sandbox, "")
        case .endpoint(let endpoint): (.production, endpoint)
        }
    }
}

/// The signing key that Apple hands out once, as a file `AuthKey_….p8`.
///
/// It never prints.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Sendable {
        case file(String)
        case pem(String)
    }

    private let source: Source

    /// The key in a file; keep its mode 600.
    public static func file(_ path: String) -> SigningKey { SigningKey(source: .file(path)) }

    /// The contents of such a file.
    public static func pem(_ text: String) -> SigningKey { SigningKey(source: .pem(text)) }

    /// The kind of the source.
    public var description: String {
        switch source {
        case .file(let path): "the signing key in \(path)"
        case .pem: "a signing key"
        }
    }

    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    func read() throws(PushError) -> ES256PrivateKey {
        switch source {
        case .file(let path):
            do throws(ServiceError) { return try ProviderKeyFile.read(path: path).key } catch { throw PushError(error) }
        case .pem(let text):
            do throws(CryptoError) {
                return try ES256PrivateKey(pem: Array(text.utf8))
            } catch {
                throw PushError(.keyInvalid, "the text is no usable signing key: \(error.message)")
            }
        }
    }
}
