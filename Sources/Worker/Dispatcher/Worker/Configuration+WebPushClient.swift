import ConnectionPool
import Crypto
import ServiceClient
import WebPushTransport

extension Configuration {
    /// The client for browsers: one route for each app that pushes to them, and one source of tokens for each key.
    ///
    /// - Returns: the configuration; nil if no app pushes to browsers.
    /// - Throws: `ServiceError` if a key, a subject or the proxy is wrong.
    func webPushClient() throws(ServiceError) -> WebPushConfiguration? {
        var sources: [AppWebPush: VAPIDTokenSource] = [:]
        var members: [WebPushConfiguration.App] = []
        for app in apps {
            guard let own = app.webPush else { continue }
            if sources[own] == nil { sources[own] = try own.tokenSource() }
            if let source = sources[own] { members.append(.init(name: app.name, tokens: source)) }
        }
        guard !members.isEmpty else { return nil }
        var client = WebPushConfiguration(apps: members)
        client.knownHosts += webPush.knownHosts
        client.refusesUnknownHosts = webPush.onlyKnownHosts
        client.trustedHosts = Set(webPush.trustedHosts)
        client.encryptionThreads = webPush.encryptionThreads
        client.extraTrustAnchorsFile = webPush.caFile
        client.proxy = try webPush.proxy.map { (url) throws(ServiceError) in try HTTPProxy(url: url.revealed) }
        client.knownLimits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
        client.unknownLimits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
        return client
    }
}

extension Configuration.AppWebPush {
    /// Signs the tokens of the app.
    fileprivate func tokenSource() throws(ServiceError) -> VAPIDTokenSource {
        let key = try VAPIDKey(path: keyFile)
        do throws(VAPIDError) {
            return VAPIDTokenSource(key: key, subject: try VAPIDSubject(subject))
        } catch {
            throw ServiceError(.identifierInvalid, error.message)
        }
    }

    /// The key for which browsers subscribe, as a point of 65 bytes; nil if the file cannot be read.
    var applicationServerKey: [UInt8]? { try? VAPIDKey(path: keyFile).signingKey.publicPoint }
}
