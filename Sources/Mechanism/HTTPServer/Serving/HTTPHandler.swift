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

    /// The response in place of an answer.
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

/// The decision about the body of a request whose head has arrived.
public enum HTTPAdmission: Sendable {
    /// It is read, up to so many bytes or the server's own limit.
    case read(bytesMaximum: Int)
    /// It is not read: this is the answer, and the connection ends with it.
    case refuse(HTTPResponse)
    /// Another thread decides: the closure is called at once, and hands the admitter over.
    case later(@Sendable (HTTPAdmitter) -> Void)
}

/// The means to decide about the body of one request from any thread; without a decision the client gets a 500.
public final class HTTPAdmitter: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    deinit { exchange.end(nil) }

    /// Lets the body come, up to so many bytes; only the first decision counts.
    public func read(bytesMaximum: Int) { exchange.end(.admitted(bodyBytesMaximum: bytesMaximum)) }

    /// Answers without the body, and ends the connection; only the first decision counts.
    public func refuse(_ response: HTTPResponse) { exchange.end(.response(response)) }
}

/// A handler's way to answer a request.
public enum HTTPAnswer: Sendable {
    /// This is the answer.
    case now(HTTPResponse)
    /// The answer comes from another thread: the closure is called at once, and hands the responder over.
    case later(@Sendable (HTTPResponder) -> Void)
    /// The answer comes when something happens, perhaps in a minute: as `later`, but how many requests wait in this way
    /// is the handler's to limit, and a server that stops does not wait for them.
    case held(@Sendable (HTTPResponder) -> Void)
}

/// The means to answer one request from any thread; if it goes without an answer, the client gets a 500.
public final class HTTPResponder: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    deinit { exchange.end(nil) }

    /// Whether an answer could not be read any more: the client has closed its side, or got an answer already.
    public var isAbandoned: Bool { exchange.isAbandoned }

    /// Answers; only the first call counts.
    public func respond(_ response: HTTPResponse) { exchange.end(.response(response)) }
}
