import JSON

/// An answer of the admin server.
struct AdminResponse {
    /// The paths that there are.
    static let paths = ["/livez", "/readyz", "/metrics", "/version"]

    /// The HTTP status.
    let status: UInt32
    /// The media type.
    let contentType: StaticString
    /// The body.
    let body: [UInt8]
    /// Whether to name the methods that are allowed.
    var isMethodRefusal = false

    /// Answers a request.
    static func answer(method: String, path: String, routes: AdminRoutes) -> AdminResponse {
        guard method == "GET" || method == "HEAD" else {
            return text(405, "only GET and HEAD are answered\n", isMethodRefusal: true)
        }
        switch path {
        case "/livez": return health(routes.liveness())
        case "/readyz": return health(routes.readiness())
        case "/version": return version(routes)
        case "/metrics":
            return AdminResponse(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(routes.metrics().utf8)
            )
        default: return text(404, "there is nothing here; try " + paths.joined(separator: ", ") + "\n")
        }
    }

    private static func text(_ status: UInt32, _ text: String, isMethodRefusal: Bool = false) -> AdminResponse {
        AdminResponse(
            status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8),
            isMethodRefusal: isMethodRefusal)
    }

    private static func health(_ checks: [HealthCheck]) -> AdminResponse {
        let isHealthy = checks.allSatisfy { $0.failure == nil }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(isHealthy ? "ok" : "failing")
        writer.key("checks")
        writer.beginArray()
        for check in checks {
            writer.beginObject()
            writer.key("name")
            writer.string(check.name)
            writer.key("ok")
            writer.boolean(check.failure == nil)
            if let failure = check.failure {
                writer.key("reason")
                writer.string(failure)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return json(isHealthy ? 200 : 503, writer)
    }

    private static func version(_ routes: AdminRoutes) -> AdminResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("name")
        writer.string(routes.version.product)
        writer.key("version")
        writer.string(routes.version.version)
        writer.endObject()
        return json(200, writer)
    }

    private static func json(_ status: UInt32, _ writer: JSONWriter) -> AdminResponse {
        AdminResponse(status: status, contentType: "application/json", body: writer.bytes + [UInt8(ascii: "\n")])
    }
}
