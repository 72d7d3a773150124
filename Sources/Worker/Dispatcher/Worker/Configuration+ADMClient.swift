public import ADMTransport
import Metrics
public import ServiceClient
import StructuredLogging
public import WorkerConfiguration

/// The routes to ADM, and what authenticates them.
struct ADMRoutes {
    /// One for each app that uses ADM, in the order of the apps.
    var routes: [ADMRoute] = []
    /// One for each route; to be stopped.
    var tokenSources: [AccessTokenSource] = []
}

extension Configuration {
    /// The routes to ADM: one for each app that uses it.
    ///
    /// - Parameters:
    ///   - logger: where the fetching of access tokens is logged.
    ///   - metrics: where it is counted.
    /// - Returns: the routes, and the sources of their tokens.
    /// - Throws: `ServiceError` if an endpoint is wrong, or there is no thread.
    func admRoutes(logger: Logger, metrics: MetricsRegistry) throws(ServiceError) -> ADMRoutes {
        var result = ADMRoutes()
        do throws(ServiceError) {
            for app in apps {
                guard let adm = app.adm else { continue }
                let log = AccessTokenLog(
                    account: adm.clientID, settings: "client_id and client_secret", logger: logger, metrics: metrics)
                let source = try AccessTokenSource(
                    credentials: adm.credentials, ended: { log.ended($0) })
                result.tokenSources.append(source)
                var limits = HTTP1Limits()
                limits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
                result.routes.append(
                    try ADMRoute(
                        app: app.name, endpoint: adm.endpoint?.description ?? "", extraTrustAnchorsFile: adm.caFile,
                        tokenSource: source, limits: limits,
                        proxy: try adm.proxy.map { (url) throws(ServiceError) in try HTTPProxy(url: url.revealed) }))
            }
            return result
        } catch {
            for source in result.tokenSources { source.stop() }
            throw error
        }
    }
}

extension Configuration.ADM {
    /// Tries whether the server can be used, without sending a message; the calling thread waits, at most 10 seconds.
    ///
    /// - Returns: the host and port that answered.
    /// - Throws: `ServiceError` as `ADMProbe.check`.
    public func checkServer() throws(ServiceError) -> String {
        try ADMProbe.check(
            endpoint: endpoint?.description ?? "", caFile: caFile ?? "", proxy: proxy?.revealed ?? ""
        ).description
    }

    /// The credentials, with the way to access tokens.
    public var credentials: ADMCredentials {
        ADMCredentials(
            clientID: clientID, clientSecret: clientSecret.revealed, tokenURL: tokenURL ?? "", caFile: caFile ?? "",
            proxy: proxy?.revealed ?? "")
    }
}
