import EventLoop
import HTTPServer
import PushCore

/// Finds the route of a request, and takes it to the registry's thread.
struct RequestRouter: HTTPHandler {
    private let dialects: [any Dialect]
    private let routes: [String: [(route: Route, metrics: RouteMetrics)]]
    private let context: LoopBound<RegistryContext>

    /// Gathers the routes of the dialects; the first dialect answers for paths that belong to none.
    init(dialects: [any Dialect], context: LoopBound<RegistryContext>, metrics: RegistryAPIMetrics) {
        self.dialects = dialects
        self.context = context
        var routes: [String: [(route: Route, metrics: RouteMetrics)]] = [:]
        for dialect in dialects {
            for route in dialect.routes {
                guard case .literal(let first)? = route.path.segments.first else { continue }
                routes[first, default: []].append((route, metrics.route(route.name)))
            }
        }
        self.routes = routes
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let segments = request.target.segments
        let dialect = dialect(for: segments.first ?? "")
        var allowed: [String] = []
        for (route, metrics) in routes[segments.first ?? ""] ?? [] {
            guard let values = route.path.match(segments) else { continue }
            guard route.method == request.method else {
                allowed.append(route.method)
                continue
            }
            return answer(request, route, values, metrics)
        }
        guard allowed.isEmpty else {
            var refusal = dialect.refusal(405, "only \(allowed.joined(separator: ", ")) is answered here")
            refusal.fields.append(HTTPField("Allow", allowed.joined(separator: ", ")))
            return .now(refusal)
        }
        return .now(dialect.refusal(404, "there is no \(request.method) of such a path"))
    }

    func response(to refusal: HTTPRefusal, rawPath: String) -> HTTPResponse {
        let first = rawPath.dropFirst().prefix { $0 != "/" }
        return dialect(for: String(first)).refusal(refusal.status, refusal.message)
    }

    private func answer(
        _ request: HTTPRequest, _ route: Route, _ values: PathValues, _ metrics: RouteMetrics
    ) -> HTTPAnswer {
        let began = MonotonicClock.nowNanoseconds()
        switch route.admit(request, values) {
        case .answered(let response):
            metrics.count(response, sinceNanoseconds: began)
            return .now(response)
        case .admitted(let work):
            return .later { [context] responder in
                context.loop.submit {
                    let response = work(context.value)
                    metrics.count(response, sinceNanoseconds: began)
                    responder.respond(response)
                }
            }
        case .held(let work):
            return .held { [context] responder in
                let request = HeldRequest(responder: responder, metrics: metrics, beganNanoseconds: began)
                context.loop.submit { work(context.value, request) }
            }
        }
    }

    private func dialect(for firstSegment: String) -> any Dialect {
        dialects.first { $0.firstSegments.contains(firstSegment) } ?? dialects[0]
    }
}
