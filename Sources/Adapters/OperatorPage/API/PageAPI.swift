import EventLoop
import HTTPServer
import Notifications
import PushCore
import Synchronization

/// The page's API: which request is which operation, and who may do it.
final class PageAPI: Sendable {
    typealias Operation = @Sendable (PageAPI, PageCall) async throws -> HTTPResponse

    /// An operation and its request.
    private struct Route: Sendable {
        let method: String
        /// The segments of the path; `*` is any one.
        let path: [String]
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

    private static let routes: [Route] = [
        Route(method: "GET", path: ["session"], role: .viewer) { api, call in api.session(call) },
        Route(method: "GET", path: ["now"], role: .viewer) { api, _ in try await api.now() },
        Route(method: "GET", path: ["fan-outs"], role: .viewer) { try await $0.fanOuts($1) },
        Route(method: "POST", path: ["fan-outs", "*", "cancel"], role: .operator) { try await $0.cancelFanOut($1) },
        Route(method: "GET", path: ["campaigns"], role: .viewer) { try await $0.campaigns($1) },
        Route(method: "GET", path: ["campaigns", "show"], role: .viewer) { try await $0.campaign($1) },
        Route(method: "GET", path: ["dead-letters"], role: .viewer) { try await $0.deadLetters($1) },
        Route(method: "GET", path: ["dead-letters", "counts"], role: .viewer) { try await $0.deadLetterCounts($1) },
        Route(method: "POST", path: ["dead-letters", "collect"], role: .operator) { try await $0.collect($1) },
        Route(method: "POST", path: ["dead-letters", "preview"], role: .operator) { try await $0.preview($1) },
        Route(method: "POST", path: ["dead-letters", "apply"], role: .operator) { try await $0.apply($1) },
        Route(method: "GET", path: ["dead-letters", "*"], role: .viewer) { try await $0.deadLetter($1) },
        Route(method: "GET", path: ["actions"], role: .viewer) { try await $0.auditEntries($1) },
        Route(method: "GET", path: ["actions", "*"], role: .viewer) { try await $0.auditEntry($1) },
        Route(method: "GET", path: ["find"], role: .viewer) { try await $0.find($1) },
        Route(method: "POST", path: ["explain"], role: .viewer) { try await $0.explain($1) },
        Route(method: "GET", path: ["pauses"], role: .viewer) { api, _ in try await api.listPauses() },
        Route(method: "POST", path: ["pauses"], role: .operator) { try await $0.pause($1) },
        Route(method: "POST", path: ["pauses", "resume"], role: .operator) { try await $0.resume($1) },
        Route(method: "POST", path: ["test-push"], role: .operator) { try await $0.sendTestPush($1) },
    ]

    /// Answers a request.
    ///
    /// - Throws: `PageProblem`, or an error of the registry or the broker.
    func answer(_ call: PageCall) async throws -> HTTPResponse {
        let method = call.request.method == "HEAD" ? "GET" : call.request.method
        let routes = Self.routes.filter { Self.fits($0.path, call.path) }
        guard !routes.isEmpty else {
            throw PageProblem(.notFound, "The page's API has no such path. A page of another version may ask for it.")
        }
        guard let route = routes.first(where: { $0.method == method }) else {
            let methods = Set(routes.map(\.method)).sorted().joined(separator: ", ")
            throw PageProblem(.method, "Only \(methods) is answered here.", fields: [HTTPField("Allow", methods)])
        }
        guard route.role == .viewer || call.user.role == .operator else {
            throw PageProblem(
                .forbidden, "\(call.user.name) is a viewer, and only an operator may do this.")
        }
        if method != "GET" { try Self.requireJSON(call.request) }
        return try await route.operation(self, call)
    }

    private static func fits(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == "*" ? !$1.isEmpty : $0 == $1 }
    }

    private static func requireJSON(_ request: HTTPRequest) throws(PageProblem) {
        let type = (request.field("content-type") ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard type == "application/json" else {
            throw PageProblem(.type, "The body has to be JSON, with Content-Type: application/json.")
        }
    }

    /// What the page has to know of its user and of this process.
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
