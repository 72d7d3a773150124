import ConnectionPool
import Crypto
public import Notifications
public import ServiceClient
public import WebPushTransport
public import WorkerConfiguration

extension Configuration {
    /// The client for browsers: one route for each app that pushes to them, and one source of tokens for each key.
    ///
    /// - Returns: the configuration; nil if no app pushes to browsers.
    /// - Throws: `ServiceError` if a key, a subject or the proxy is wrong.
    func webPushClient() throws(ServiceError) -> WebPushServiceConfiguration? {
        var sources: [AppWebPush: VAPIDTokenSource] = [:]
        var members: [WebPushServiceConfiguration.App] = []
        for app in apps {
            guard let own = app.webPush else { continue }
            if sources[own] == nil { sources[own] = try own.tokenSource() }
            if let source = sources[own] { members.append(.init(name: app.name, tokens: source)) }
        }
        guard !members.isEmpty else { return nil }
        var client = WebPushServiceConfiguration(apps: members)
        client.hosts = webPush.hosts
        client.encryptionThreads = webPush.encryptionThreads
        client.extraTrustAnchorsFile = webPush.caFile
        client.proxy = try HTTPProxy.at(webPush.proxy?.revealed)
        client.knownLimits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
        client.unknownLimits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
        return client
    }
}

extension Configuration {
    /// A host of each large service that has one for all; Microsoft's differ from region to region.
    private static let largeServiceHosts = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com",
    ]

    /// The push services of browsers that can be tried.
    ///
    /// They are those of `trusted_hosts` that name a port. If there are none, they are the large ones, and whole names
    /// of `known_hosts`. If no app pushes to browsers, there are none.
    public var browserServices: [ServiceEndpoint] {
        guard apps.contains(where: { $0.webPush != nil }) else { return [] }
        let trusted = webPush.trustedHosts.filter { $0.split(separator: ":").count == 2 && !$0.hasPrefix(":") }
            .compactMap { try? ServiceEndpoint($0, defaultHost: "") }
        guard trusted.isEmpty else { return trusted }
        let known = webPush.knownHosts.filter { !$0.hasPrefix(".") && !Self.largeServiceHosts.contains($0) }
        return (Self.largeServiceHosts + known).map { ServiceEndpoint(host: $0) }
    }

    /// Tries whether a push service of browsers can be used, without sending a push.
    ///
    /// - Parameter endpoint: its host and port.
    /// - Returns: the findings about the service.
    /// - Throws: `ServiceError` as `WebPushProbe.check`, or if a key, a subject or the proxy is wrong.
    public func checkBrowserService(_ endpoint: ServiceEndpoint) async throws(ServiceError) -> WebPushProbe.Report {
        guard let client = try webPushClient() else {
            throw ServiceError(.routeInvalid, "no app has [app.webpush]")
        }
        return try await WebPushProbe.check(endpoint, client)
    }
}

extension Configuration.WebPush {
    /// To which hosts pushes go, and which of them a registration may name.
    public var hosts: PushHostRule {
        var hosts = PushHostRule()
        hosts.knownHosts += knownHosts
        hosts.refusesUnknownHosts = onlyKnownHosts
        hosts.trustedHosts = trustedHosts
        return hosts
    }
}

extension Configuration.AppWebPush {
    /// Signs a token with the key.
    ///
    /// - Returns: the public half of the key in base64url, for which browsers subscribe.
    /// - Throws: `ServiceError` if the key cannot be read or does not sign, or the subject is wrong.
    public func checkKey() throws(ServiceError) -> String {
        let source = try tokenSource()
        try WebPushProbe.sign(for: .init(name: "", tokens: source))
        return source.key.publicKeyText
    }

    /// Signs the tokens of the app.
    fileprivate func tokenSource() throws(ServiceError) -> VAPIDTokenSource {
        let key = try VAPIDSigningKey(path: keyFile)
        do throws(VAPIDError) {
            return VAPIDTokenSource(key: key, subject: try VAPIDSubject(subject))
        } catch {
            throw ServiceError(.identifierInvalid, error.message)
        }
    }

    /// The key for which browsers subscribe, as a point of 65 bytes; nil if the file cannot be read.
    var applicationServerKey: [UInt8]? { try? VAPIDSigningKey(path: keyFile).signingKey.publicPoint }
}
