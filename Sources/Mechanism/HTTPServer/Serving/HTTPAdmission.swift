/// What becomes of the body of a request whose head has come.
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
