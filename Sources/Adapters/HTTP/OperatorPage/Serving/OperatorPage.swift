import EventLoop
public import HTTPServer
public import RegistryCore
public import StructuredLogging
import Synchronization

/// The operator's page: its files, and the API below `api/` that they use.
///
/// It is a handler for the admin server's HTTP server, and does nothing on that server's thread that waits: passwords
/// are verified on one loop, the registry is used on another, and RabbitMQ is asked by tasks.
public final class OperatorPage: HTTPHandler {
    /// The longest body of a request, in bytes.
    public static let bodyBytesMaximum = PageCall.bodyBytesMaximum
    /// How many requests may be under way at once.
    private static let requestsMaximum = 32

    private let configuration: OperatorPageConfiguration
    private let segments: [String]
    private let assets = PageAssets()
    private let crossOrigin: CrossOriginRule
    private let login: PageLogin
    private let api: PageAPI
    private let loops: (registry: EventLoop, logins: EventLoop)
    private let requestsCount = Atomic<Int>(0)

    /// Makes a page; the registry is opened and RabbitMQ is connected when somebody looks.
    ///
    /// - Parameters:
    ///   - configuration: where the page is, and for whom.
    ///   - openRegistry: opens a connection to the registry, on the page's loop.
    ///   - broker: RabbitMQ; nil if this process knows none.
    ///   - logger: where logins and actions are logged.
    /// - Throws: an error if there is no thread.
    public init(
        _ configuration: OperatorPageConfiguration,
        openRegistry: @escaping @Sendable () throws(RegistryError) -> any PageRegistry,
        broker: (any PageBroker)?, logger: Logger
    ) throws {
        self.configuration = configuration
        segments = configuration.path.split(separator: "/").map { String($0) }
        crossOrigin = CrossOriginRule(allowedOrigins: Set(configuration.allowedOrigins))
        let registryLoop = try EventLoop(name: "page")
        let loginLoop: EventLoop
        do {
            loginLoop = try EventLoop(name: "page-logins")
        } catch {
            registryLoop.stopAndJoin()
            throw error
        }
        loops = (registryLoop, loginLoop)
        login = PageLogin(configuration, loop: loginLoop, logger: logger)
        let store = PageStore(loop: registryLoop, open: openRegistry)
        api = PageAPI(configuration, store: store, broker: broker, logger: logger)
    }

    /// Returns the page's current state in JSON (`GET api/now`), for programs other than browsers.
    ///
    /// - Returns: an object.
    /// - Throws: an error that says why the registry cannot be read.
    public func now() async throws -> [UInt8] { try await api.now().body }

    /// Ends the page's threads; call it when the server has been stopped.
    ///
    /// A page that is not stopped keeps them.
    public func stop() {
        loops.logins.stopAndJoin()
        loops.registry.stopAndJoin()
    }

    /// Whether a request is for the page.
    public func serves(_ request: HTTPRequest) -> Bool { request.target.segments.starts(with: segments) }

    // MARK: The way of a request

    /// Refuses what no login could make right, before the body is read.
    public func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
        if !crossOrigin.allows(request) { return .refuse(PageResponse.completed(Self.crossOriginAnswer)) }
        switch login.find(request) {
        case .refused(let problem): return .refuse(PageResponse.completed(PageResponse.problem(problem)))
        case .user, .toVerify:
            guard request.contentCoding == nil else {
                let problem = PageProblem(
                    .type, "The body has a content coding: send it without Content-Encoding.",
                    fields: [HTTPField("Accept-Encoding", "identity")])
                return .refuse(PageResponse.completed(PageResponse.problem(problem)))
            }
            return .read(bytesMaximum: Self.bodyBytesMaximum)
        }
    }

    /// Answers a request, mostly from another thread.
    public func answer(_ request: HTTPRequest) -> HTTPAnswer {
        guard crossOrigin.allows(request) else { return .now(PageResponse.completed(Self.crossOriginAnswer)) }
        switch login.find(request) {
        case .refused(let problem): return .now(PageResponse.completed(PageResponse.problem(problem)))
        case .user(let user): return answer(request, user)
        case .toVerify(let credentials):
            return .later { [self] responder in
                login.verify(credentials) { [self] result in
                    switch result {
                    case .failure(let problem):
                        responder.respond(PageResponse.completed(PageResponse.problem(problem)))
                    case .success(let user): answer(request, user, responder)
                    }
                }
            }
        }
    }

    private func answer(_ request: HTTPRequest, _ user: PageUser) -> HTTPAnswer {
        if let response = file(request) { return .now(PageResponse.completed(response)) }
        return .later { [self] responder in answer(request, user, responder) }
    }

    private func answer(_ request: HTTPRequest, _ user: PageUser, _ responder: HTTPResponder) {
        if let response = file(request) { return responder.respond(PageResponse.completed(response)) }
        let path = Array(request.target.segments.dropFirst(segments.count + 1))
        guard requestsCount.wrappingAdd(1, ordering: .relaxed).newValue <= Self.requestsMaximum else {
            requestsCount.wrappingSubtract(1, ordering: .relaxed)
            let problem = PageProblem(
                .busy, "Too many requests are under way. Try again in a second.",
                fields: [HTTPField("Retry-After", "1")])
            return responder.respond(PageResponse.completed(PageResponse.problem(problem)))
        }
        Task { [self] in
            let response: HTTPResponse
            do {
                response = try await api.answer(request, user, path: path)
            } catch {
                response = PageResponse.problem(PageProblem(error))
            }
            requestsCount.wrappingSubtract(1, ordering: .relaxed)
            responder.respond(PageResponse.completed(response))
        }
    }

    /// The answer to a request that is not for the API.
    private func file(_ request: HTTPRequest) -> HTTPResponse? {
        let rest = request.target.segments.dropFirst(segments.count)
        if rest.first == "api" { return nil }
        guard request.method == "GET" || request.method == "HEAD" else {
            return PageResponse.problem(
                PageProblem(.method, "Only GET and HEAD are answered here.", fields: [HTTPField("Allow", "GET, HEAD")]))
        }
        switch Array(rest) {
        case []:
            // The page's files and requests are relative to the folder, whatever a proxy has put before it.
            return HTTPResponse(status: 308, fields: [HTTPField("Location", "\(segments.last ?? "")/")])
        case [""]:
            if let page = assets.index() { return page }
        case let path where path.count == 2 && path[0] == "assets":
            if let file = assets.file(path[1], for: request) { return file }
        default: break
        }
        return PageResponse.problem(
            PageProblem(.notFound, "There is nothing here; the page is at \(configuration.path)/."))
    }

    private static let crossOriginAnswer = PageResponse.problem(
        PageProblem(
            .crossOrigin,
            "The request comes from a page of another site. If that is meant, name its origin in "
                + "admin.allowed_origins."))
}

/// Refuses requests that a page of another site makes its visitor's browser send (CSRF).
///
/// The order is that of Go 1.25 (`net/http`, `CrossOriginProtection`), which needs no token:
///
/// | request | decision |
/// |---|---|
/// | GET, HEAD or OPTIONS, which change nothing | allowed |
/// | `Origin` is in the configured list | allowed |
/// | `Sec-Fetch-Site` is `same-origin` or `none` | allowed |
/// | `Sec-Fetch-Site` is anything else | refused |
/// | neither `Sec-Fetch-Site` nor `Origin`: no browser | allowed |
/// | `Origin` has the host and the port of `Host` | allowed |
/// | anything else | refused |
///
/// Browsers send `Sec-Fetch-Site` only to https and to this machine; on plain http the last rows decide.
struct CrossOriginRule: Sendable {
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// The origins that are allowed besides the page's own, for example `https://ops.example.com`.
    let allowedOrigins: Set<String>

    /// Whether a request may go on.
    func allows(_ request: HTTPRequest) -> Bool {
        if Self.safeMethods.contains(request.method) { return true }
        let origins = request.fields.filter { $0.name == "origin" }.map(\.value)
        if origins.count == 1, allowedOrigins.contains(origins[0]) { return true }
        let sites = request.fields.filter { $0.name == "sec-fetch-site" }.map(\.value)
        guard sites.isEmpty else { return sites == ["same-origin"] || sites == ["none"] }
        if origins.isEmpty { return true }
        guard origins.count == 1, let host = request.field("host") else { return false }
        return Self.authority(of: origins[0])?.lowercased() == host.lowercased()
    }

    /// The host and the port of an origin; nil for one that has none, such as `null`.
    private static func authority(of origin: String) -> Substring? {
        for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) { return origin.dropFirst(scheme.count) }
        return nil
    }
}
