import EventLoop
import HTTPServer

/// Finds the route of a request, and lets it wait for its turn on one of the registry's loops.
struct RequestRouter: HTTPHandler {
    private let dialects: [any Dialect]
    private let routes: [String: [(route: Route, metrics: RouteMetrics)]]
    private let lines: RequestLines
    /// The metrics of requests for which there is no route.
    private let strays: RouteMetrics

    /// Gathers the routes of the dialects; the first dialect answers for paths that belong to none.
    init(dialects: [any Dialect], lines: RequestLines, metrics: RegistryAPIMetrics) {
        self.dialects = dialects
        self.lines = lines
        strays = metrics.route("unknown")
        var routes: [String: [(route: Route, metrics: RouteMetrics)]] = [:]
        for dialect in dialects {
            for route in dialect.routes {
                guard case .literal(let first)? = route.path.segments.first else { continue }
                routes[first, default: []].append((route, metrics.route(route.name)))
            }
        }
        self.routes = routes
    }

    func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
        let dialect = dialect(of: request)
        guard let (route, _, metrics) = find(request).found else { return .read(bytesMaximum: Route.smallBodyBytes) }
        let began = MonotonicClock.nowNanoseconds()
        func refuse(_ response: HTTPResponse) -> HTTPAdmission {
            metrics.count(response, sinceNanoseconds: began)
            return .refuse(dialect.completed(response, for: request.fields))
        }
        if let bodyBytes {
            guard bodyBytes <= route.bodyBytesMaximum else { return refuse(route.bodyTooLong(dialect)) }
            if bodyBytes <= Route.strangerBodyBytes { return .read(bytesMaximum: bodyBytes) }
        }
        switch dialect.admitBody(of: request) {
        case .allowed: return .read(bytesMaximum: route.bodyBytesMaximum)
        case .refused(let response): return refuse(response)
        case .asked(let credential, let work):
            return .later { [lines] admitter in
                lines.admitBody(of: credential, dialect, work) { response in
                    guard let response else { return admitter.read(bytesMaximum: route.bodyBytesMaximum) }
                    metrics.count(response, sinceNanoseconds: began)
                    admitter.refuse(dialect.completed(response, for: request.fields))
                }
            }
        }
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let dialect = dialect(of: request)
        let (found, allowed) = find(request)
        if let (route, values, metrics) = found {
            return answer(request, dialect, metrics) { admission(request, route, values, dialect) }
        }
        guard allowed.isEmpty else {
            var refusal = dialect.refusal(405, "only \(allowed.joined(separator: ", ")) is answered here")
            refusal.fields.append(HTTPField("Allow", allowed.joined(separator: ", ")))
            return answer(request, dialect, strays) { dialect.admitStray(request, refusal) }
        }
        let refusal = dialect.refusal(404, "there is no \(request.method) of such a path")
        return answer(request, dialect, strays) { dialect.admitStray(request, refusal) }
    }

    /// The route of a request, or the methods for which its path has one.
    private func find(
        _ request: HTTPRequest
    ) -> (found: (route: Route, values: PathValues, metrics: RouteMetrics)?, allowed: [String]) {
        let segments = request.target.segments
        var allowed: [String] = []
        for (route, metrics) in routes[segments.first ?? ""] ?? [] {
            guard let values = route.path.match(segments) else { continue }
            if route.method == request.method { return ((route, values, metrics), []) }
            allowed.append(route.method)
        }
        return (nil, allowed)
    }

    /// Says it in the dialect of the path, and so that a page of an allowed origin can read it.
    ///
    /// The refusal of a host that is not served is no exception: the page then learns that it asks by a wrong name. A
    /// page that got hold of the name ("DNS rebinding") is of the same origin as the host, and reads it in any case.
    func response(to refusal: HTTPRefusal, rawPath: String, fields: [HTTPField]) -> HTTPResponse {
        let dialect = dialect(for: String(rawPath.dropFirst().prefix { $0 != "/" }))
        return dialect.completed(dialect.refusal(refusal.status, refusal.message), for: fields)
    }

    private func answer(
        _ request: HTTPRequest, _ dialect: any Dialect, _ metrics: RouteMetrics, _ admit: () -> Admission
    ) -> HTTPAnswer {
        let began = MonotonicClock.nowNanoseconds()
        let complete: @Sendable (HTTPResponse) -> HTTPResponse = { dialect.completed($0, for: request.fields) }
        switch admit() {
        case .answered(let response):
            metrics.count(response, sinceNanoseconds: began)
            return .now(complete(response))
        case .admitted(let credential, let step):
            return .later { [lines] responder in
                let request = HeldRequest(
                    responder: responder, metrics: metrics, beganNanoseconds: began, complete: complete)
                lines.proceed(step, request, of: credential, dialect)
            }
        case .held(let work):
            return .held { [context = lines.writing.context] responder in
                let request = HeldRequest(
                    responder: responder, metrics: metrics, beganNanoseconds: began, complete: complete)
                context.loop.submit { work(context.value, request) }
            }
        }
    }

    private func admission(
        _ request: HTTPRequest, _ route: Route, _ values: PathValues, _ dialect: any Dialect
    ) -> Admission {
        guard request.body.count <= route.bodyBytesMaximum else {
            return .answered(route.bodyTooLong(dialect))
        }
        return route.admit(request, values)
    }

    private func dialect(of request: HTTPRequest) -> any Dialect { dialect(for: request.target.segments.first ?? "") }

    private func dialect(for firstSegment: String) -> any Dialect {
        dialects.first { $0.firstSegments.contains(firstSegment) } ?? dialects[0]
    }
}
