/// The means to answer one request from any thread; if it goes without an answer, the client gets a 500.
public final class HTTPResponder: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    deinit { exchange.end(nil) }

    /// Whether nobody would read an answer: the client has closed its side of the connection, or there was one already.
    public var isAbandoned: Bool { exchange.isAbandoned }

    /// Answers; only the first call counts.
    public func respond(_ response: HTTPResponse) { exchange.end(.response(response)) }
}
