/// The result of an attempt to post an outcome to an app's backend.
public enum WebhookAnswer: Hashable, Sendable {
    /// It took the outcome: 2xx.
    case taken
    /// It wants no more outcomes: 410.
    case gone
    /// It has no time for now: 429 or 503, with the wait that it asks for.
    case busy(status: Int, retryAfterSeconds: Int?)
    /// It did not take the outcome: any other status, redirects among them, which are not followed.
    case refused(status: Int)
    /// There was no answer, or no connection; the reason is for people.
    case failed(reason: String)
    /// The message is no outcome of Apus, so it was not posted; the reason is for people.
    case malformed(reason: String)

    /// Judges an answer by its status.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - retryAfterSeconds: the wait that the header `retry-after` asks for; nil without one.
    public init(status: Int, retryAfterSeconds: Int?) {
        self =
            switch status {
            case 200..<300: .taken
            case 410: .gone
            case 429, 503: .busy(status: status, retryAfterSeconds: retryAfterSeconds)
            default: .refused(status: status)
            }
    }

    /// In words, for a log line.
    public var description: String {
        switch self {
        case .taken: "taken"
        case .gone: "status 410"
        case .busy(let status, let seconds?): "status \(status), retry-after \(seconds) s"
        case .busy(let status, nil), .refused(let status): "status \(status)"
        case .failed(let reason), .malformed(let reason): reason
        }
    }

    /// The wait that it asks for, in seconds.
    var retryAfterSeconds: Int? { if case .busy(_, let seconds) = self { seconds } else { nil } }
}
