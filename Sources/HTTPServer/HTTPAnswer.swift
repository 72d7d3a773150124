/// What a handler does with a request.
public enum HTTPAnswer: Sendable {
    /// This is the answer.
    case now(HTTPResponse)
    /// The answer comes from another thread: the closure is called at once, and hands the responder over.
    case later(@Sendable (HTTPResponder) -> Void)
}
