import ConnectionPool
public import FCMTransport
import Metrics
public import ServiceClient
import StructuredLogging
public import WorkerConfiguration

/// The routes to FCM, and what authenticates them.
struct FCMRoutes {
    /// One for each app that uses FCM, in the order of the apps.
    let routes: [FCMRoute]
    /// One for each service account; to be stopped.
    let tokenSources: [AccessTokenSource]
}

extension Configuration {
    /// Refuses service accounts that cannot be used, before anything is begun.
    ///
    /// - Throws: `ServiceError` with `keyUnreadable` or `keyInvalid`.
    func requireServiceAccounts() throws(ServiceError) {
        for fcm in apps.compactMap(\.fcm) { _ = try fcm.accountFile.account() }
    }

    /// The routes to FCM: one for each app that uses it, and one access token for each service account.
    ///
    /// - Parameters:
    ///   - logger: where the fetching of access tokens is logged.
    ///   - metrics: where it is counted.
    /// - Returns: the routes, and the sources of their tokens.
    /// - Throws: `ServiceError` if a service account or an endpoint is wrong, or there is no thread.
    func fcmRoutes(logger: Logger, metrics: MetricsRegistry) throws(ServiceError) -> FCMRoutes {
        var sources: [ServiceAccountFile: AccessTokenSource] = [:]
        do throws(ServiceError) {
            var routes: [FCMRoute] = []
            for app in apps {
                guard let fcm = app.fcm else { continue }
                let file = fcm.accountFile
                let account = try file.account()
                let source: AccessTokenSource
                if let shared = sources[file] {
                    source = shared
                } else {
                    let log = AccessTokenLog(
                        account: account.email, settings: "service_account_file", logger: logger, metrics: metrics)
                    source = try AccessTokenSource(file: file, ended: { log.ended($0) })
                    sources[file] = source
                }
                routes.append(
                    try fcm.route(
                        app: app.name, accountProject: account.projectID, source,
                        deadlineNanoseconds: worker.pushTimeout.nanoseconds))
            }
            return FCMRoutes(routes: routes, tokenSources: Array(sources.values))
        } catch {
            for source in sources.values { source.stop() }
            throw error
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
        let routes = try fcmRoutes(logger: .silent, metrics: MetricsRegistry())
        defer { for source in routes.tokenSources { source.stop() } }
        guard let route = routes.routes.first(where: { $0.app == name }) else {
            throw ServiceError(.routeInvalid, "the app \(name) has no [app.fcm]")
        }
        return try await ServiceProbe.check(route.serviceRoute).address
    }
}

extension Configuration.FCM {
    /// The file of the service account, with the way to its access tokens.
    public var accountFile: ServiceAccountFile {
        ServiceAccountFile(
            path: serviceAccountFile, tokenURL: tokenURL ?? "", caFile: caFile ?? "", proxy: proxy?.revealed ?? "")
    }

    /// The route of an app.
    fileprivate func route(
        app: String, accountProject: String, _ source: AccessTokenSource, deadlineNanoseconds: UInt64
    ) throws(ServiceError) -> FCMRoute {
        var limits = FCMRoute.defaultLimits
        limits.connections = connections
        limits.connectionsUnused = 1
        limits.connectionsMaximum = connectionsMaximum
        limits.deadlineNanoseconds = deadlineNanoseconds
        limits.pushesPerMinuteMaximum = messagesPerMinute
        // A push that would wait past its deadline waits better in RabbitMQ.
        let inHalfADeadline = Double(messagesPerMinute) / 60 * Double(deadlineNanoseconds) / 2_000_000_000
        limits.outstandingMaximum = max(1, min(limits.outstandingMaximum, Int(min(inHalfADeadline, 1e9))))
        return try FCMRoute(
            app: app, projectID: projectID.isEmpty ? accountProject : projectID,
            endpoint: endpoint?.description ?? "", extraTrustAnchorsFile: caFile, tokenSource: source, limits: limits,
            proxy: try proxy.map { (url) throws(ServiceError) in try HTTPProxy(url: url.revealed) })
    }
}

/// Counts and logs the fetches of one account's access tokens.
struct AccessTokenLog: Sendable {
    private let account: String
    /// The settings that an operator has to check if the account is refused.
    private let settings: String
    private let logger: Logger
    private let granted: Counter
    private let failed: Counter
    private let refused: Counter

    /// Registers the counters.
    init(account: String, settings: String, logger: Logger, metrics: MetricsRegistry) {
        self.account = account
        self.settings = settings
        self.logger = logger
        func counter(_ result: String) -> Counter {
            metrics.counter(
                "apus_push_access_token_fetches_total", help: "Access tokens asked for, by account and result.",
                labels: [.init("account", account), .init("result", result)], appears: .onceUsed)
        }
        (granted, failed, refused) = (counter("granted"), counter("failed"), counter("refused"))
    }

    /// A fetch has ended.
    func ended(_ outcome: AccessTokenOutcome) {
        switch outcome {
        case .granted(_, let lifeSeconds):
            granted.add()
            logger.log(
                .debug, "push.access-token.fetched",
                [.field("account", account), .field("lifeSeconds", lifeSeconds)])
        case .failed(let failure):
            (failure.isRefusal ? refused : failed).add()
            let hint =
                failure.isRefusal
                ? "check \(settings), the account and this machine's clock; it is tried again every minute"
                : "it is tried again; a token that is there stays in use until it expires"
            logger.log(
                failure.isRefusal ? .error : .warning, "push.access-token.failed",
                [.field("account", account), .field("reason", failure.reason), .field("hint", hint)])
        }
    }
}
