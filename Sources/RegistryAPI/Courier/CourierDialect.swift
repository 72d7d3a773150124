import HTTPServer
import PushCore

/// The URLs of `tokens/create`: a `GET` waits for the next notification and answers its payload, or an empty body if
/// none came in time.
///
/// The URL alone lets its holder fetch, from whatever page. Apple documents only that one polls it; that an answer has
/// one payload, as APNs would have it, and that an empty one asks to come again, is what clients of Apple's rely on.
struct CourierDialect: Dialect {
    let firstSegments = ["courier"]

    var routes: [Route] {
        [
            Route("courier/fetch", "GET", "/courier/{secret}") { _, values in
                guard let token = CourierToken.token(ofSecret: values["secret"]) else {
                    return .answered(CourierAnswer.unknown)
                }
                return .held { context, request in context.courier.arrived(request, for: token, context) }
            },
            Route("preflight", "OPTIONS", "/courier/{secret}") { _, _ in .answered(CourierAnswer.preflight) },
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        var response = CourierAnswer.refusal(status, message)
        if let retryAfterSeconds { response.fields.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        return response
    }
}
