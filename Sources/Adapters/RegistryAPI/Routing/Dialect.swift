import HTTPServer

/// A family of routes that speak alike: how requests are authenticated, and what errors look like.
protocol Dialect: Sendable {
    /// The first segments of the paths that it answers for, whether there is a route or not.
    var firstSegments: [String] { get }
    /// What it can do.
    var routes: [Route] { get }

    /// Says that something is wrong which has nothing to do with a single route.
    ///
    /// - Parameters:
    ///   - status: 400, 404, 405, 413, 429, 500 or 503.
    ///   - message: what is wrong, for people.
    ///   - retryAfterSeconds: when to try again, if that is known.
    /// - Returns: the response in the dialect's own form.
    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse

    /// Decides whether a long body is read, as far as the head tells who sends it.
    func admitBody(of request: HTTPRequest) -> BodyAdmission

    /// Decides on a request for which there is no route.
    ///
    /// - Parameters:
    ///   - request: what has come.
    ///   - refusal: what is answered to whoever may know what there is.
    /// - Returns: the refusal, unless the dialect asks for a credential first.
    func admitStray(_ request: HTTPRequest, _ refusal: HTTPResponse) -> Admission

    /// Adds to an answer what depends on the header fields of the request alone, whatever the answer is.
    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse
}

extension Dialect {
    /// Says that something is wrong which does not pass by itself.
    func refusal(_ status: Int, _ message: String) -> HTTPResponse {
        refusal(status, message, retryAfterSeconds: nil)
    }

    func admitBody(of _: HTTPRequest) -> BodyAdmission { .allowed }

    func admitStray(_: HTTPRequest, _ refusal: HTTPResponse) -> Admission { .answered(refusal) }

    func completed(_ response: HTTPResponse, for _: [HTTPField]) -> HTTPResponse { response }
}
