/// What becomes of the body of a request whose head has come.
public enum HTTPAdmission: Sendable {
    /// It is read, up to so many bytes or the server's own limit.
    case read(bytesMaximum: Int)
    /// It is not read: this is the answer, and the connection ends with it.
    case refuse(HTTPResponse)
    /// Another thread decides: the closure is called at once, and hands the admitter over.
    case later(@Sendable (HTTPAdmitter) -> Void)
}
