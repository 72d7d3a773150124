internal import FCMTransport
internal import PushLibrary
internal import ServiceClient
internal import StructuredLogging

/// The routes of a client, and the sources of their access tokens.
struct FCMRoutes {
    /// The accounts that share a source.
    private struct Account: Hashable {
        var serviceAccount: FCMServiceAccount
        var endpoint: TokenEndpoint
    }

    /// One for each configuration, in their order.
    private(set) var routes: [FCMRoute] = []
    private var sources: [Account: AccessTokenSource] = [:]

    /// Makes them.
    ///
    /// - Throws: `PushError`; no source is left running then.
    init(_ configurations: [FCMConfiguration], logger: Logger) throws(PushError) {
        do throws(PushError) {
            for configuration in configurations { try add(configuration, logger) }
        } catch {
            stopSources()
            throw error
        }
    }

    private mutating func add(_ configuration: FCMConfiguration, _ logger: Logger) throws(PushError) {
        let account: ServiceAccount
        let source: AccessTokenSource
        do throws(ServiceError) {
            // Before the thread that fetches tokens, which reads it from its URL as well.
            _ = try ConnectionSettings.proxy(configuration.proxyURL)
            account = try configuration.serviceAccount.read()
            let key = Account(
                serviceAccount: configuration.serviceAccount, endpoint: configuration.tokenEndpoint)
            if let shared = sources[key] {
                source = shared
            } else {
                source = try configuration.serviceAccount.makeTokenSource(key.endpoint) { [email = account.email] in
                    Self.log($0, of: email, to: logger)
                }
                sources[key] = source
            }
        } catch { throw PushError(error) }
        routes.append(try configuration.makeRoute(account, source))
    }

    /// Ends the fetching of access tokens.
    func stopSources() { for source in sources.values { source.stop() } }

    private static func log(_ outcome: AccessTokenOutcome, of email: String, to logger: Logger) {
        switch outcome {
        case .granted(_, let lifeSeconds):
            logger.log(
                .debug, "push.access-token.fetched",
                [.field("account", email), .field("lifeSeconds", lifeSeconds)])
        case .failed(let failure):
            logger.log(
                failure.isRefusal ? .error : .warning, "push.access-token.failed",
                [.field("account", email), .field("reason", failure.reason)])
        }
    }
}
