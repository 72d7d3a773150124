/// Answers the requests of a server.
///
/// Both methods run on the server's only thread, so they must not wait for anything.
public protocol HTTPHandler: Sendable {
    /// Answers a request, or takes the means to answer it later.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// What to say in place of an answer.
    ///
    /// - Parameters:
    ///   - refusal: why there is none.
    ///   - rawPath: the path as it was sent, which need not be well-formed.
    /// - Returns: the response; the status should be that of the refusal.
    func response(to refusal: HTTPRefusal, rawPath: String) -> HTTPResponse
}

extension HTTPHandler {
    /// A line of plain text.
    public func response(to refusal: HTTPRefusal, rawPath: String) -> HTTPResponse {
        .text(refusal.status, refusal.message)
    }
}
