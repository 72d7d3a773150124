/// What a handler does with a request.
public enum HTTPAnswer: Sendable {
    /// This is the answer.
    case now(HTTPResponse)
    /// The answer comes from another thread: the closure is called at once, and hands the responder over.
    case later(@Sendable (HTTPResponder) -> Void)
    /// The answer comes when something happens, perhaps in a minute: as `later`, but how many requests wait in this way
    /// is the handler's to limit, and a server that stops does not wait for them.
    case held(@Sendable (HTTPResponder) -> Void)
}
