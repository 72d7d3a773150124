import EventLoop
import HTTPServer

/// Finds the route of a request, and lets it wait for its turn on one of the registry's loops.
struct RequestRouter: HTTPHandler {
    private struct Served: Sendable {
        let route: Route
        let metrics: RouteMetrics
    }

    private let apis: [any ClientAPI]
    private let routes: RouteTable<Served>
    private let lines: RequestLines
    /// The metrics of requests without a route.
    private let strays: RouteMetrics

    /// Gathers the routes of the apis; the first api answers for paths that belong to none, and a later one for those
    /// that it takes from an earlier one.
    init(apis: [any ClientAPI], lines: RequestLines, metrics: RegistryAPIMetrics) {
        self.apis = apis
        self.lines = lines
        strays = metrics.route("unknown")
        routes = RouteTable(
            apis.flatMap(\.routes).map { route in
                (route.method, route.path, Served(route: route, metrics: metrics.route(route.name)))
            })
    }

    func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
        let api = api(of: request)
        guard case .found(let served, _) = find(request) else { return .read(bytesMaximum: Route.smallBodyBytes) }
        let (route, metrics) = (served.route, served.metrics)
        let began = MonotonicClock.nowNanoseconds()
        func refuse(_ response: HTTPResponse) -> HTTPAdmission {
            metrics.count(response, sinceNanoseconds: began)
            return .refuse(api.completed(response, for: request.fields))
        }
        if let coding = request.contentCoding { return refuse(Self.codingRefusal(coding, api)) }
        if let bodyBytes {
            guard bodyBytes <= route.bodyBytesMaximum else { return refuse(route.bodyTooLong(api)) }
            if bodyBytes <= Route.strangerBodyBytes { return .read(bytesMaximum: bodyBytes) }
        }
        switch api.admitBody(of: request) {
        case .allowed: return .read(bytesMaximum: route.bodyBytesMaximum)
        case .refused(let response): return refuse(response)
        case .asked(let credential, let work):
            return .later { [lines] admitter in
                lines.admitBody(of: credential, api, work) { response in
                    guard let response else { return admitter.read(bytesMaximum: route.bodyBytesMaximum) }
                    metrics.count(response, sinceNanoseconds: began)
                    admitter.refuse(api.completed(response, for: request.fields))
                }
            }
        }
    }

    /// The answer to a body in a coding, with what would be read (RFC 9110, sections 12.5.3 and 15.5.16).
    private static func codingRefusal(_ coding: String, _ api: any ClientAPI) -> HTTPResponse {
        var response = api.refusal(
            415, "The body has the content coding \"\(coding.prefix(40))\": send it without Content-Encoding.")
        response.fields.append(HTTPField("Accept-Encoding", "identity"))
        return response
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let api = api(of: request)
        switch find(request) {
        case .found(let served, let values):
            return answer(request, api, served.metrics) { admission(request, served.route, values, api) }
        case .otherMethods(let methods):
            let allowed = methods.joined(separator: ", ")
            var refusal = api.refusal(405, "only \(allowed) is answered here")
            refusal.fields.append(HTTPField("Allow", allowed))
            return answer(request, api, strays) { api.admitStray(request, refusal) }
        case .unknownPath:
            let refusal = api.refusal(404, "there is no \(request.method) of such a path")
            return answer(request, api, strays) { api.admitStray(request, refusal) }
        }
    }

    private func find(_ request: HTTPRequest) -> RouteTable<Served>.Finding {
        routes.find(request.method, request.target.segments)
    }

    /// Says it in the api of the path, and so that a page of an allowed origin can read it.
    ///
    /// The refusal of a host that is not served is no exception: the page then learns that it asks by a wrong name. A
    /// page that got hold of the name ("DNS rebinding") is of the same origin as the host, and reads it in any case.
    func response(to refusal: HTTPRefusal, rawPath: String, fields: [HTTPField]) -> HTTPResponse {
        let api = api(for: rawPath.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init))
        return api.completed(api.refusal(refusal.status, refusal.message), for: fields)
    }

    private func answer(
        _ request: HTTPRequest, _ api: any ClientAPI, _ metrics: RouteMetrics, _ admit: () -> Admission
    ) -> HTTPAnswer {
        let began = MonotonicClock.nowNanoseconds()
        let complete: @Sendable (HTTPResponse) -> HTTPResponse = { api.completed($0, for: request.fields) }
        switch admit() {
        case .answered(let response):
            metrics.count(response, sinceNanoseconds: began)
            return .now(complete(response))
        case .admitted(let credential, let step):
            return .later { [lines] responder in
                let request = SuspendedRequest(
                    responder: responder, metrics: metrics, beganNanoseconds: began, complete: complete)
                lines.proceed(step, request, of: credential, api)
            }
        case .held(let work):
            return .held { [context = lines.writing.context] responder in
                let request = SuspendedRequest(
                    responder: responder, metrics: metrics, beganNanoseconds: began, complete: complete)
                context.loop.submit { work(context.value, request) }
            }
        }
    }

    private func admission(
        _ request: HTTPRequest, _ route: Route, _ values: PathValues, _ api: any ClientAPI
    ) -> Admission {
        guard request.body.count <= route.bodyBytesMaximum else {
            return .answered(route.bodyTooLong(api))
        }
        return route.admit(request, values)
    }

    private func api(of request: HTTPRequest) -> any ClientAPI { api(for: request.target.segments) }

    private func api(for segments: [String]) -> any ClientAPI {
        apis.last { $0.answers(for: segments) } ?? apis[0]
    }
}
