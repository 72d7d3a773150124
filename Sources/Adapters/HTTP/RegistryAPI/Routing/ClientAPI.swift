import HTTPServer

/// A family of routes that speak alike: how requests are authenticated, and what errors look like.
protocol ClientAPI: Sendable {
    /// The first segments of the paths that it answers for, whether there is a route or not.
    var firstSegments: [String] { get }
    /// The second segment of those paths; nil for any.
    var secondSegment: String? { get }
    /// The routes of the API.
    var routes: [Route] { get }

    /// Says that something is wrong which has nothing to do with a single route.
    ///
    /// - Parameters:
    ///   - status: 400, 404, 405, 413, 415, 429, 500 or 503.
    ///   - message: the problem, for people.
    ///   - retryAfterSeconds: when to try again, if that is known.
    /// - Returns: the response in the api's own form.
    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse

    /// Decides whether a long body is read, as far as the head tells who sends it.
    func admitBody(of request: HTTPRequest) -> BodyAdmission

    /// Decides on a request without a route.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - refusal: the answer for authenticated senders.
    /// - Returns: the refusal, unless the api asks for a credential first.
    func admitStray(_ request: HTTPRequest, _ refusal: HTTPResponse) -> Admission

    /// Adds the parts of an answer that depend only on the header fields of the request.
    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse
}

extension ClientAPI {
    var secondSegment: String? { nil }

    /// Whether it answers for a path with these segments.
    func answers(for segments: [String]) -> Bool {
        guard let first = segments.first, firstSegments.contains(first) else { return false }
        return secondSegment == nil || segments.dropFirst().first == secondSegment
    }

    /// Says that something is wrong which does not pass by itself.
    func refusal(_ status: Int, _ message: String) -> HTTPResponse {
        refusal(status, message, retryAfterSeconds: nil)
    }

    func admitBody(of _: HTTPRequest) -> BodyAdmission { .allowed }

    func admitStray(_: HTTPRequest, _ refusal: HTTPResponse) -> Admission { .answered(refusal) }

    func completed(_ response: HTTPResponse, for _: [HTTPField]) -> HTTPResponse { response }
}

/// Whether a request may go on to the registry.
enum Admission: Sendable {
    /// It ends here, with this answer.
    case answered(HTTPResponse)
    /// It waits for its turn among the requests of this credential, and then this is done.
    case admitted(as: String, RegistryStep)
    /// The answer waits for something to happen: this is done on the loop that writes, and answers then or later.
    case held(@Sendable (RegistryContext, SuspendedRequest) -> Void)
}

/// Whether the sender of a request may fill the memory with a long body, as far as the head tells.
enum BodyAdmission: Sendable {
    /// It may come.
    case allowed
    /// It does not come: this is the answer.
    case refused(HTTPResponse)
    /// The registry knows: this is done on the loop that reads, in turns between these credentials, and gives the
    /// answer if the body may not come.
    case asked(as: String, @Sendable (RegistryContext) -> HTTPResponse?)
}

/// The next step of a request, whose sender is known or still has to be authenticated.
enum RegistryStep: Sendable {
    /// No further step: this is the answer.
    case answered(HTTPResponse)
    /// No further step here: this begins to wait for something, and answers when it has happened.
    case suspended(@Sendable (SuspendedRequest) -> Void)
    /// This step runs on the reading loop, and returns the next one.
    case reading(@Sendable (RegistryContext) -> RegistryStep)
    /// This step runs on the writing loop, and returns the next one.
    case writing(@Sendable (RegistryContext) -> RegistryStep)

    /// The last step of a request.
    ///
    /// - Parameters:
    ///   - writes: whether it changes something.
    ///   - work: gives the answer.
    /// - Returns: the step.
    static func last(writes: Bool, _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse) -> RegistryStep {
        writes ? .writing { .answered(work($0)) } : .reading { .answered(work($0)) }
    }

    /// The last step of a request that is on the loop that reads already.
    ///
    /// - Parameters:
    ///   - writes: whether it changes something.
    ///   - context: that of the loop which reads.
    ///   - work: gives the answer.
    /// - Returns: the step, or the answer if it is there.
    static func last(
        writes: Bool, from context: RegistryContext,
        _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse
    ) -> RegistryStep {
        writes ? last(writes: true, work) : .answered(work(context))
    }
}

/// A request whose answer waits for something to happen.
struct SuspendedRequest: Sendable {
    let responder: HTTPResponder
    let metrics: RouteMetrics
    let beganNanoseconds: UInt64
    /// Adds to the answer what depends on the request alone.
    let complete: @Sendable (HTTPResponse) -> HTTPResponse

    /// Whether the client can no longer read an answer.
    var isAbandoned: Bool { responder.isAbandoned }

    /// Answers, and counts it.
    func answer(_ response: HTTPResponse) {
        metrics.count(response, sinceNanoseconds: beganNanoseconds)
        responder.respond(complete(response))
    }
}
