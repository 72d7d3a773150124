import HTTPServer

/// The two lines in which requests wait for the registry: those that look, and those that change something.
///
/// Each has its own loop and its own connection to the store, so that no reader waits for a writer.
struct RequestLines: Sendable {
    /// When a credential that lets too many requests wait may try again, or anybody when there are too many.
    private static let retryAfterSeconds = 1

    let reading: RequestLine
    let writing: RequestLine

    /// Goes the way of a request step by step, until there is an answer.
    ///
    /// - Parameters:
    ///   - step: what is next.
    ///   - request: to be answered.
    ///   - credential: who sent it, as far as it is known.
    ///   - dialect: whose form a refusal has.
    func proceed(_ step: RegistryStep, _ request: HeldRequest, of credential: String, _ dialect: any Dialect) {
        let line: RequestLine
        let work: @Sendable (RegistryContext) -> RegistryStep
        switch step {
        case .answered(let response): return request.answer(response)
        case .reading(let next): (line, work) = (reading, next)
        case .writing(let next): (line, work) = (writing, next)
        }
        line.append(
            RequestLine.Entry { context in
                proceed(work(context), request, of: credential, dialect)
            } refuse: { reason in
                request.answer(Self.refusal(reason, dialect))
            }, of: credential)
    }

    /// Finds out whether a long body may come.
    ///
    /// - Parameters:
    ///   - credential: who sends it, as far as it is known.
    ///   - dialect: whose form a refusal has.
    ///   - work: asks the registry; gives the answer if it may not come.
    ///   - decide: takes that answer, or nil.
    func admitBody(
        of credential: String, _ dialect: any Dialect, _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse?,
        decide: @escaping @Sendable (HTTPResponse?) -> Void
    ) {
        reading.append(
            RequestLine.Entry { context in
                decide(work(context))
            } refuse: { reason in
                decide(Self.refusal(reason, dialect))
            }, of: credential)
    }

    private static func refusal(_ reason: FairQueueRefusal, _ dialect: any Dialect) -> HTTPResponse {
        switch reason {
        case .share:
            dialect.refusal(
                429, "too many requests of this sender wait already", retryAfterSeconds: retryAfterSeconds)
        case .full:
            dialect.refusal(503, "too many requests are waiting; try again", retryAfterSeconds: retryAfterSeconds)
        }
    }
}
