import ConnectionPool
public import FCMTransport
import Metrics
public import ServiceClient
import StructuredLogging
public import WorkerConfiguration

extension Configuration {
    /// Refuses service accounts that cannot be used, before anything is begun.
    ///
    /// - Throws: `ServiceError` with `keyUnreadable` or `keyInvalid`.
    func requireServiceAccounts() throws(ServiceError) {
        for fcm in apps.compactMap(\.fcm) { _ = try fcm.credentials.account() }
    }

    /// The routes to FCM: one for each app that uses it, and one access token for each service account.
    ///
    /// - Parameters:
    ///   - logger: where the fetching of access tokens is logged.
    ///   - metrics: where it is counted.
    /// - Returns: the routes, in the order of the apps, and the sources of their tokens.
    /// - Throws: `ServiceError` if a service account or an endpoint is wrong, or there is no thread.
    func fcmRoutes(
        logger: Logger, metrics: MetricsRegistry
    ) throws(ServiceError) -> (routes: [ServiceRoute], tokens: AccessTokenSources<ServiceAccountCredentials>) {
        try AccessTokenSources.forRoutes { tokens throws(ServiceError) in
            var routes: [ServiceRoute] = []
            for app in apps {
                guard let fcm = app.fcm else { continue }
                let credentials = fcm.credentials
                let account = try credentials.account()
                let source = try tokens.source(
                    of: credentials,
                    log: AccessTokenLog(
                        account: account.email, settings: "service_account_file", logger: logger, metrics: metrics))
                routes.append(
                    try fcm.route(
                        app: app.name, accountProject: account.projectID, source,
                        deadlineNanoseconds: worker.pushTimeout.nanoseconds))
            }
            return routes
        }
    }
}

extension Configuration {
    /// Tries whether an app's server for FCM can be used, without sending a message.
    ///
    /// - Parameter name: the name of an app that uses FCM.
    /// - Returns: the address that answered.
    /// - Throws: `ServiceError` as `ServiceProbe.check`.
    public func checkFCM(app name: String) async throws(ServiceError) -> String {
        let (routes, tokens) = try fcmRoutes(logger: .silent, metrics: MetricsRegistry())
        defer { tokens.stop() }
        guard let route = routes.first(where: { $0.app == name }) else {
            throw ServiceError(.routeInvalid, "the app \(name) has no [app.fcm]")
        }
        return try await ServiceProbe.check(route).address
    }
}

extension Configuration.FCM {
    /// The service account, with the way to its access tokens.
    public var credentials: ServiceAccountCredentials {
        ServiceAccountCredentials(
            .file(serviceAccountFile),
            endpoint: TokenEndpoint(url: tokenURL ?? "", caFile: caFile ?? "", proxy: proxy?.revealed ?? ""))
    }

    /// The route of an app.
    fileprivate func route(
        app: String, accountProject: String, _ source: AccessTokenSource, deadlineNanoseconds: UInt64
    ) throws(ServiceError) -> ServiceRoute {
        var limits = FCMRoute.defaultLimits
        limits.connections = connections
        limits.connectionsUnused = 1
        limits.connectionsMaximum = connectionsMaximum
        limits.deadlineNanoseconds = deadlineNanoseconds
        limits.pushesPerMinuteMaximum = messagesPerMinute
        // A push that would wait past its deadline waits better in RabbitMQ.
        let inHalfADeadline = Double(messagesPerMinute) / 60 * Double(deadlineNanoseconds) / 2_000_000_000
        limits.outstandingMaximum = max(1, min(limits.outstandingMaximum, Int(min(inHalfADeadline, 1e9))))
        return try FCMRoute.make(
            app: app, projectID: projectID.isEmpty ? accountProject : projectID,
            endpoint: endpoint?.description ?? "", extraTrustAnchorsFile: caFile, tokenSource: source, limits: limits,
            proxy: try HTTPProxy.at(proxy?.revealed))
    }
}
