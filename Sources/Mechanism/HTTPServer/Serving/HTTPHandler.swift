/// Answers the requests of a server.
///
/// The methods run on the server's only thread, so they must not wait for anything.
public protocol HTTPHandler: Sendable {
    /// Decides from the head whether the server reads the body, so that an unknown client cannot fill its memory.
    ///
    /// - Parameters:
    ///   - request: the head; its body is empty.
    ///   - bodyBytes: how long the body will be; nil for one in chunks.
    /// - Returns: the decision. A request without a body is answered without it.
    func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission

    /// Answers a request, or takes the means to answer it later.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// What to say in place of an answer.
    ///
    /// - Parameters:
    ///   - refusal: why there is none.
    ///   - rawPath: the path as it was sent, which need not be well-formed; empty if none has come.
    ///   - fields: the header fields that have come, names in lower case; not all if the head has not ended.
    /// - Returns: the response; the status should be that of the refusal.
    func response(to refusal: HTTPRefusal, rawPath: String, fields: [HTTPField]) -> HTTPResponse
}

extension HTTPHandler {
    /// Reads every body, up to the server's limit.
    public func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission { .read(bytesMaximum: .max) }

    /// A line of plain text.
    public func response(to refusal: HTTPRefusal, rawPath: String, fields: [HTTPField]) -> HTTPResponse {
        .text(refusal.status, refusal.message)
    }
}
