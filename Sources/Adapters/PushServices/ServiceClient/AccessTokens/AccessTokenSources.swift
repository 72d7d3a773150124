public import Metrics
public import StructuredLogging

/// The sources of access tokens of a client's routes: one for each account, which its routes share.
public struct AccessTokenSources<Credentials: AccessTokenCredentials>: Sendable {
    private var byCredentials: [Credentials: AccessTokenSource] = [:]

    /// Makes routes and the sources that they need.
    ///
    /// - Parameter make: makes the routes.
    /// - Returns: the routes, and the sources, which have to be stopped.
    /// - Throws: the error of `make`; no source is left running then.
    public static func forRoutes<Route, Failure: Error>(
        _ make: (inout Self) throws(Failure) -> [Route]
    ) throws(Failure) -> (routes: [Route], tokens: Self) {
        var tokens = Self()
        do throws(Failure) {
            let routes = try make(&tokens)
            return (routes, tokens)
        } catch {
            tokens.stop()
            throw error
        }
    }

    /// Finds the source of an account, or makes it for the account's first route.
    ///
    /// - Parameters:
    ///   - credentials: the account's credentials.
    ///   - log: counts and logs its fetches; made for the first route only.
    /// - Returns: the source, which fetches nothing before a token is needed.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public mutating func source(
        of credentials: Credentials, log: @autoclosure () -> AccessTokenLog
    ) throws(ServiceError) -> AccessTokenSource {
        if let shared = byCredentials[credentials] { return shared }
        let log = log()
        let made = try AccessTokenSource(credentials, ended: { log.ended($0) })
        byCredentials[credentials] = made
        return made
    }

    /// Fetches no more tokens; returns when the fetches that have begun are over.
    public func stop() { for source in byCredentials.values { source.stop() } }
}

/// Counts and logs the fetches of one account's access tokens.
public struct AccessTokenLog: Sendable {
    private let account: String
    private let settings: String
    private let logger: Logger
    private let granted: Counter
    private let failed: Counter
    private let refused: Counter

    /// Registers the counters.
    ///
    /// - Parameters:
    ///   - account: the name of the account, no secret.
    ///   - settings: what an operator has to check if the account is refused.
    ///   - logger: where fetches are logged.
    ///   - metrics: where they are counted.
    public init(account: String, settings: String, logger: Logger, metrics: MetricsRegistry) {
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
