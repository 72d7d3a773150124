public import HTTPServer
public import Metrics

/// Serves health and metrics over HTTP, on a thread of its own: `/livez`, `/readyz`, `/metrics`, `/version`.
///
/// It is meant for the operator's network: it has neither TLS nor passwords, and answers only GET and HEAD. The
/// operator's page, below a path of its own, checks logins itself.
public final class AdminServer: Sendable {
    private struct Handler: HTTPHandler {
        let routes: AdminRoutes
        let page: AdminPage?

        /// No body means anything here but to the page.
        func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
            if let page, page.serves(request) { return page.handler.admit(request, bodyBytes: bodyBytes) }
            return .refuse(AdminResponse.answer(request, routes: routes))
        }

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            if let page, page.serves(request) { return page.handler.answer(request) }
            return .now(AdminResponse.answer(request, routes: routes))
        }
    }

    /// The port that it listens on, also where the caller asked for any.
    public var port: UInt16 { server.port }
    private let server: HTTPServer

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - host: an address or a name of this machine.
    ///   - port: the port; 0 lets the system choose one, which the property `port` then tells.
    ///   - settingName: the setting that messages tell the operator to change.
    ///   - names: the names by which it is reached besides the host, `localhost` and the machine's own; `*` for all.
    ///   - routes: the answers.
    ///   - page: the page that is served below another path; nil for none.
    /// - Throws: `HTTPServerError` if the address cannot be had.
    public init(
        host: String, port: UInt16, settingName: String = "admin.listen", names: [String] = [], routes: AdminRoutes,
        page: AdminPage? = nil
    ) throws(HTTPServerError) {
        var configuration = HTTPServerConfiguration(
            name: "the admin server", settingName: settingName, host: host, port: port)
        configuration.hosts = .names(names + [host])
        if let page { configuration.bodyBytesMaximum = page.bodyBytesMaximum }
        server = try HTTPServer(configuration: configuration, handler: Handler(routes: routes, page: page))
    }

    /// Closes the port and all connections, and waits for the thread; a second call does nothing.
    ///
    /// A request that is being answered is finished first.
    public func stop() { server.stop() }
}

/// A page that the admin server serves beside its own answers.
public struct AdminPage: Sendable {
    /// Whether a request is for it.
    let serves: @Sendable (HTTPRequest) -> Bool
    /// Answers those requests.
    let handler: any HTTPHandler
    /// The longest body that it takes, in bytes.
    let bodyBytesMaximum: Int

    /// Creates a page.
    public init(
        handler: any HTTPHandler, bodyBytesMaximum: Int, serves: @escaping @Sendable (HTTPRequest) -> Bool
    ) {
        self.handler = handler
        self.bodyBytesMaximum = bodyBytesMaximum
        self.serves = serves
    }
}

/// The answers of the admin server; the closures run on the server's thread, for each request.
public struct AdminRoutes: Sendable {
    /// Whether the process works at all: if not, it has better be started again.
    ///
    /// A broker that is away is no reason.
    public let liveness: @Sendable () -> [HealthCheck]
    /// Whether the process can do its job, or why not; a check that only degrades it leaves it ready.
    public let readiness: @Sendable () -> [HealthCheck]
    /// All metrics in a format.
    public let metrics: @Sendable (MetricsFormat) -> String
    /// The name of the program and its version.
    public let version: (product: String, version: String)

    /// Creates routes.
    ///
    /// - Parameters:
    ///   - liveness: the checks of `/livez`.
    ///   - readiness: the checks of `/readyz`.
    ///   - metrics: the body of `/metrics`.
    ///   - product: the name of the program.
    ///   - version: its version.
    public init(
        liveness: @escaping @Sendable () -> [HealthCheck], readiness: @escaping @Sendable () -> [HealthCheck],
        metrics: @escaping @Sendable (MetricsFormat) -> String, product: String, version: String
    ) {
        self.liveness = liveness
        self.readiness = readiness
        self.metrics = metrics
        self.version = (product, version)
    }
}

/// One of the things that health depends on.
public struct HealthCheck: Hashable, Sendable {
    /// The name of the check, for example `consuming`.
    public let name: String
    /// The problem, for an operator to read; nil if all is well.
    public let failure: String?
    /// Whether a failure only degrades the process, which then counts as healthy all the same.
    public let onlyDegrades: Bool

    /// Creates a check.
    public init(_ name: String, failure: String?, onlyDegrades: Bool = false) {
        self.name = name
        self.failure = failure
        self.onlyDegrades = onlyDegrades
    }
}
