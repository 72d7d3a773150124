/// Why the server does not hand a request to its handler.
public enum HTTPRefusal: Hashable, Sendable {
    /// The target, a header field or the length is not as HTTP wants it.
    case malformed(String)
    /// The body is longer than so many bytes.
    case bodyTooLong(bytesMaximum: Int)
    /// Too many requests wait for their answers, or the server is about to end.
    case busy
    /// The handler gave no answer.
    case unanswered

    /// The status to answer with.
    public var status: Int {
        switch self {
        case .malformed: 400
        case .bodyTooLong: 413
        case .busy: 503
        case .unanswered: 500
        }
    }

    /// What is wrong, for people.
    public var message: String {
        switch self {
        case .malformed(let reason): reason
        case .bodyTooLong(let bytesMaximum): "the body is longer than \(bytesMaximum) bytes"
        case .busy: "too many requests are waiting; try again in a second"
        case .unanswered: "the request could not be answered"
        }
    }
}
