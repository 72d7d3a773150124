import HTTPServer
import Notifications

/// The URLs of `tokens/create`: a `GET` waits for the next notification and answers its payload, or an empty body if
/// none came in time.
///
/// The URL alone lets its holder fetch, from any page. Apple documents only that clients poll it. Apple's clients rely
/// on two more facts: an answer has one payload in APNs' form, and an empty one asks to come again.
///
/// A URL that the server never issued is refused on the server's thread, before it takes a waiting slot. An issued URL
/// is a credential like any other, with a rate of its own.
struct CourierAPI: ClientAPI {
    let firstSegments = ["courier"]
    private let tokens: CourierTokens
    private let credentials: CredentialGuard
    /// Scripts of every page may ask: the URL is the only proof of identity.
    private let crossOrigin = CrossOriginPolicy(origins: ["*"], fieldNames: "*")

    init(tokens: CourierTokens, credentials: CredentialGuard) {
        self.tokens = tokens
        self.credentials = credentials
    }

    var routes: [Route] {
        [
            Route("courier/fetch", "GET", "/courier/{secret}", admit: admit),
            Route("preflight", "OPTIONS", "/courier/{secret}") { _, _ in
                .answered(crossOrigin.preflight(methods: "GET"))
            },
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        var response = HTTPResponse.text(status, message)
        if let retryAfterSeconds { response.fields.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        return response
    }

    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse {
        crossOrigin.completed(response, for: fields)
    }

    private func admit(_ request: HTTPRequest, _ values: PathValues) -> Admission {
        guard let secret = tokens.secret(values["secret"]) else {
            let wait = credentials.authenticationFailed(request, "no such courier secret")
            return .answered(wait.map { CourierAnswer.tooMany(retryAfterSeconds: $0) } ?? CourierAnswer.unknown)
        }
        let token = tokens.token(of: secret)
        if let wait = credentials.take("courier \(token.hexadecimal)") {
            return .answered(CourierAnswer.tooMany(retryAfterSeconds: wait))
        }
        let address = request.clientShare
        return .held { context, request in context.courier.arrived(request, for: token, from: address, context) }
    }
}
