import HTTPServer

/// A request whose answer waits for something to happen.
struct HeldRequest: Sendable {
    let responder: HTTPResponder
    let metrics: RouteMetrics
    let beganNanoseconds: UInt64
    /// Adds to the answer what depends on the request alone.
    let complete: @Sendable (HTTPResponse) -> HTTPResponse

    /// Whether nobody would read an answer.
    var isAbandoned: Bool { responder.isAbandoned }

    /// Answers, and counts it.
    func answer(_ response: HTTPResponse) {
        metrics.count(response, sinceNanoseconds: beganNanoseconds)
        responder.respond(complete(response))
    }
}
