import PushServiceSimulator

/// An answer of a push service.
struct WebPushAnswer: Sendable {
    /// The HTTP status.
    var status: Int
    /// The name of the refusal, for records and counts; nil for acceptance.
    var reason: String?
    /// The header `content-type`; nil for none.
    var contentType: String?
    /// The body.
    var body: [UInt8] = []
    /// The header `retry-after`: seconds, or a date.
    var retryAfter: String?
    /// The other headers.
    var headers: [AnswerHeader] = []

    /// Whether it says that the message was taken.
    var isAcceptance: Bool { reason == nil }

    /// The same as a fault gives it.
    var faulty: FaultyAnswer {
        var answer = FaultyAnswer(status: status, reason: reason, body: body, contentType: contentType)
        answer.retryAfter = retryAfter
        answer.headers = headers
        return answer
    }
}

/// A message that was taken.
struct AcceptedMessage {
    /// The name of its resource.
    var id: String
    /// How long it is kept, in seconds, after the service has shortened the time.
    var ttlSeconds: Int64
    /// The origin that took it, for example `https://localhost:8443`.
    var origin: String
}
