import HTTPServer

/// Which pages' scripts may use an API (the Fetch standard, "CORS protocol").
///
/// It admits no request: it tells browsers which pages may send requests that carry a token, and read answers.
struct CrossOriginPolicy: Sendable {
    /// How long a browser may rely on a preflight, in seconds.
    private static let ageSecondsMaximum = 600

    /// The origins, for example `https://www.example.com`; `*` stands for every one.
    let origins: [String]
    /// The header fields that requests may have; `*` does not include `Authorization`.
    let fieldNames: String

    /// Adds the fields that a browser needs to hand an answer to the page, also an error.
    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse {
        guard !origins.isEmpty else { return response }
        var response = response
        if !origins.contains("*") { response.fields.append(HTTPField("Vary", "Origin")) }
        guard let origin = allowedOrigin(fields) else { return response }
        response.fields.append(HTTPField("Access-Control-Allow-Origin", origin))
        response.fields.append(HTTPField("Access-Control-Expose-Headers", "Retry-After"))
        return response
    }

    /// Whether a request comes from a page of an allowed origin, or from no page.
    func allows(_ request: HTTPRequest) -> Bool {
        !request.fields.contains { $0.name == "origin" } || allowedOrigin(request.fields) != nil
    }

    /// The answer to a browser that asks before it sends a request which is allowed.
    ///
    /// - Parameter methods: the methods of the path, for example `GET, POST`.
    /// - Returns: the answer, without what `completed` adds.
    func preflight(methods: String) -> HTTPResponse {
        HTTPResponse(
            status: 204,
            fields: [
                HTTPField("Allow", "\(methods), OPTIONS"), HTTPField("Access-Control-Allow-Methods", methods),
                HTTPField("Access-Control-Allow-Headers", fieldNames),
                HTTPField("Access-Control-Max-Age", "\(Self.ageSecondsMaximum)"),
            ])
    }

    private func allowedOrigin(_ fields: [HTTPField]) -> String? {
        if origins.contains("*") { return "*" }
        guard let origin = fields.value("origin") else { return nil }
        return origins.first { $0.utf8.elementsEqual(origin.utf8) }
    }
}
