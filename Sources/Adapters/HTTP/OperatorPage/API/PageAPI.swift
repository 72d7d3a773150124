import EventLoop
import HTTPServer
import JSON
import RegistryCore
import StructuredLogging
import Synchronization

/// The page's API: which request is which operation, and who may do it.
final class PageAPI: Sendable {
    typealias Operation = @Sendable (PageAPI, PageCall) async throws -> HTTPResponse

    /// An operation, and who may do it.
    private struct Route: Sendable {
        let role: PageRole
        let operation: Operation
    }

    let configuration: OperatorPageConfiguration
    let store: PageStore
    let broker: (any PageBroker)?
    let queues: PageQueuesCache?
    let actions: PageActions
    let logger: Logger
    /// How many dead letters the registry had when they were last counted.
    let collected = Mutex<(count: Int, readNanoseconds: UInt64)?>(nil)

    init(
        _ configuration: OperatorPageConfiguration, store: PageStore, broker: (any PageBroker)?, logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.broker = broker
        self.logger = logger
        queues = broker.map { PageQueuesCache($0) }
        actions = PageActions(store: store, process: configuration.process, logger: logger)
    }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { WallClock.nowMilliseconds() }

    private static let routes = RouteTable<Route>([
        route("GET", "/session", .viewer) { api, call in api.session(call) },
        route("GET", "/now", .viewer) { api, _ in try await api.now() },
        route("GET", "/fan-outs", .viewer) { try await $0.fanOuts($1) },
        route("POST", "/fan-outs/{number}/cancel", .operator) { try await $0.cancelFanOut($1) },
        route("GET", "/campaigns", .viewer) { try await $0.campaigns($1) },
        route("GET", "/campaigns/show", .viewer) { try await $0.campaign($1) },
        route("GET", "/dead-letters", .viewer) { try await $0.deadLetters($1) },
        route("GET", "/dead-letters/counts", .viewer) { try await $0.deadLetterCounts($1) },
        route("POST", "/dead-letters/collect", .operator) { try await $0.collect($1) },
        route("POST", "/dead-letters/preview", .operator) { try await $0.preview($1) },
        route("POST", "/dead-letters/apply", .operator) { try await $0.apply($1) },
        route("GET", "/dead-letters/{name}", .viewer) { try await $0.deadLetter($1) },
        route("GET", "/actions", .viewer) { try await $0.auditEntries($1) },
        route("GET", "/actions/{number}", .viewer) { try await $0.auditEntry($1) },
        route("GET", "/find", .viewer) { try await $0.find($1) },
        route("POST", "/explain", .viewer) { try await $0.explain($1) },
        route("GET", "/pauses", .viewer) { api, _ in try await api.listPauses() },
        route("POST", "/pauses", .operator) { try await $0.pause($1) },
        route("POST", "/pauses/resume", .operator) { try await $0.resume($1) },
        route("POST", "/test-push", .operator) { try await $0.sendTestPush($1) },
        route("GET", "/test-push", .viewer) { try await $0.testPush($1) },
    ])

    private static func route(
        _ method: String, _ path: String, _ role: PageRole, _ operation: @escaping Operation
    ) -> (method: String, path: PathPattern, served: Route) {
        (method, PathPattern(path), Route(role: role, operation: operation))
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - user: the sender.
    ///   - path: the segments of the path below `api`.
    /// - Returns: the answer of the operation.
    /// - Throws: `PageProblem`, or an error of the registry or the broker.
    func answer(_ request: HTTPRequest, _ user: PageUser, path: [String]) async throws -> HTTPResponse {
        let method = request.method == "HEAD" ? "GET" : request.method
        switch Self.routes.find(method, path) {
        case .unknownPath:
            throw PageProblem(.notFound, "The page's API has no such path. A page of another version may ask for it.")
        case .otherMethods(let others):
            let methods = Set(others).sorted().joined(separator: ", ")
            throw PageProblem(.method, "Only \(methods) is answered here.", fields: [HTTPField("Allow", methods)])
        case .found(let route, let values):
            guard route.role == .viewer || user.role == .operator else {
                throw PageProblem(.forbidden, "\(user.name) is a viewer, and only an operator may do this.")
            }
            if method != "GET" { try Self.requireJSON(request) }
            return try await route.operation(self, PageCall(request: request, user: user, values: values))
        }
    }

    private static func requireJSON(_ request: HTTPRequest) throws(PageProblem) {
        let type = (request.field("content-type") ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard type == "application/json" else {
            throw PageProblem(.type, "The body has to be JSON, with Content-Type: application/json.")
        }
    }

    /// Answers with the user and the process, for the page.
    private func session(_ call: PageCall) -> HTTPResponse {
        PageResponse.object { writer in
            writer.member("user", call.user.name)
            writer.member("role", call.user.role.rawValue)
            writer.member("login", call.user.login.rawValue)
            writer.member("product", "apus")
            writer.member("version", configuration.version)
            writer.member("process", configuration.process)
            writer.member("canAct", call.user.role == .operator)
            writer.member("hasBroker", broker != nil)
            writer.member("showsPayloads", configuration.showsPayloads)
            writer.array("apps", texts: configuration.appNames)
            writer.member("pollSeconds", WorkerReportRules.intervalMilliseconds / 1_000)
            writer.member("nowMilliseconds", nowMilliseconds)
        }
    }
}
