import HTTPServer
import JSON
import Metrics

/// The answers of the admin server.
enum AdminResponse {
    private static let served: [(path: String, answer: @Sendable (HTTPRequest, AdminRoutes) -> HTTPResponse)] = [
        ("/livez", { health($1.liveness()) }), ("/readyz", { health($1.readiness()) }),
        ("/metrics", { metrics($0, $1) }), ("/version", { version($1) }),
    ]

    /// Answers a request.
    static func answer(_ request: HTTPRequest, routes: AdminRoutes) -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            var refusal = HTTPResponse.text(405, "only GET and HEAD are answered")
            refusal.fields.append(HTTPField("Allow", "GET, HEAD"))
            return refusal
        }
        if let found = served.first(where: { $0.path == request.target.rawPath }) {
            return found.answer(request, routes)
        }
        return .text(404, "there is nothing here; try " + served.map(\.path).joined(separator: ", "))
    }

    private static func metrics(_ request: HTTPRequest, _ routes: AdminRoutes) -> HTTPResponse {
        let accept = AcceptHeader(request.fields.filter { $0.name == "accept" }.map(\.value))
        let format = MetricsFormat(accept: accept)
        var response = HTTPResponse.content(200, type: format.mediaType, Array(routes.metrics(format).utf8))
        response.fields.append(HTTPField("Vary", "Accept"))
        return response
    }

    private static func health(_ checks: [HealthCheck]) -> HTTPResponse {
        let failed = checks.filter { $0.failure != nil }
        let isHealthy = failed.allSatisfy(\.onlyDegrades)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", failed.isEmpty ? "ok" : isHealthy ? "degraded" : "failing")
        writer.array("checks", checks) { writer, check in
            writer.member("name", check.name)
            writer.member("ok", check.failure == nil)
            if let failure = check.failure {
                writer.member("reason", failure)
                if check.onlyDegrades { writer.member("onlyDegrades", true) }
            }
        }
        writer.endObject()
        return json(isHealthy ? 200 : 503, writer)
    }

    private static func version(_ routes: AdminRoutes) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", routes.version.product)
        writer.member("version", routes.version.version)
        writer.endObject()
        return json(200, writer)
    }

    private static func json(_ status: Int, _ writer: JSONWriter) -> HTTPResponse {
        .content(status, type: "application/json", writer.bytes + [UInt8(ascii: "\n")])
    }
}

extension MetricsFormat {
    /// Chooses the format that a client prefers.
    ///
    /// OpenMetrics goes only to clients that name it: a browser, or a script that accepts everything, gets text. Text
    /// also goes to a client that accepts neither, because an operator would rather read that than a refusal.
    init(accept: AcceptHeader) {
        let type = "application/openmetrics-text"
        let openMetrics = accept.names(type) ? accept.weightThousandths(of: type, parameters: ["version": "1.0.0"]) : 0
        let text = accept.weightThousandths(of: "text/plain", parameters: ["version": "0.0.4"])
        self = openMetrics > 0 && openMetrics >= text ? .openMetrics : .text
    }
}
