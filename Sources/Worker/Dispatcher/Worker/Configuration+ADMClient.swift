public import ADMTransport
import Metrics
public import ServiceClient
import StructuredLogging
public import WorkerConfiguration

extension Configuration {
    /// The routes to ADM: one for each app that uses it, and one access token for each security profile.
    ///
    /// - Parameters:
    ///   - logger: where the fetching of access tokens is logged.
    ///   - metrics: where it is counted.
    /// - Returns: the routes, in the order of the apps, and the sources of their tokens.
    /// - Throws: `ServiceError` if an endpoint is wrong, or there is no thread.
    func admRoutes(
        logger: Logger, metrics: MetricsRegistry
    ) throws(ServiceError) -> (routes: [HTTP1Route], tokens: AccessTokenSources<ADMCredentials>) {
        try AccessTokenSources.forRoutes { tokens throws(ServiceError) in
            var limits = HTTP1Limits()
            limits.deadlineNanoseconds = worker.pushTimeout.nanoseconds
            var routes: [HTTP1Route] = []
            for app in apps {
                guard let adm = app.adm else { continue }
                let source = try tokens.source(
                    of: adm.credentials,
                    log: AccessTokenLog(
                        account: adm.clientID, settings: "client_id and client_secret", logger: logger,
                        metrics: metrics))
                routes.append(
                    try ADMRoute.make(
                        app: app.name, endpoint: adm.endpoint?.description ?? "", extraTrustAnchorsFile: adm.caFile,
                        tokenSource: source, limits: limits,
                        proxy: try HTTPProxy.at(adm.proxy?.revealed), logger: logger, metrics: metrics))
            }
            return routes
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
            clientID: clientID, clientSecret: clientSecret.revealed,
            endpoint: TokenEndpoint(url: tokenURL ?? "", caFile: caFile ?? "", proxy: proxy?.revealed ?? ""))
    }
}
