/// Why the server does not hand a request to its handler, or has no answer of it.
public enum HTTPRefusal: Hashable, Sendable {
    /// The request line, a header field, the length or a chunk is not as HTTP wants it.
    case malformed(String)
    /// The request did not come in time.
    case tooSlow
    /// The body is longer than so many bytes.
    case bodyTooLong(bytesMaximum: Int)
    /// The request line is longer than so many bytes.
    case targetTooLong(bytesMaximum: Int)
    /// `Expect` asks for something else than `100-continue`.
    case expectationUnknown
    /// The request is for a host that is not served here.
    case misdirected
    /// There are too many header fields, or they are too long.
    case headTooLong(bytesMaximum: Int)
    /// The handler gave no answer.
    case unanswered
    /// The body comes in another transfer coding than `chunked`.
    case codingUnknown
    /// Too many requests wait for their answers, too much memory is taken, or the server is about to end.
    case busy
    /// It is not HTTP/1.1 or HTTP/1.0.
    case versionUnknown

    /// The status to answer with (RFC 9110 section 15).
    public var status: Int {
        switch self {
        case .malformed: 400
        case .tooSlow: 408
        case .bodyTooLong: 413
        case .targetTooLong: 414
        case .expectationUnknown: 417
        case .misdirected: 421
        case .headTooLong: 431
        case .unanswered: 500
        case .codingUnknown: 501
        case .busy: 503
        case .versionUnknown: 505
        }
    }

    /// The problem, for people.
    public var message: String {
        switch self {
        case .malformed(let reason): reason
        case .tooSlow: "the request did not come in time"
        case .bodyTooLong(let bytesMaximum): "the body is longer than \(bytesMaximum) bytes"
        case .targetTooLong(let bytesMaximum): "the request line is longer than \(bytesMaximum) bytes"
        case .expectationUnknown: "no expectation but 100-continue is met"
        case .misdirected: "this host is not served here; its operator can name it in the configuration"
        case .headTooLong(let bytesMaximum):
            "the header fields are more than \(HTTPRequestParser.fieldsMaximum), or longer than \(bytesMaximum) bytes"
        case .unanswered: "the request could not be answered"
        case .codingUnknown: "no transfer coding but chunked is understood"
        case .busy: "too many requests are waiting; try again in a second"
        case .versionUnknown: "only HTTP/1.1 and HTTP/1.0 are understood"
        }
    }
}
