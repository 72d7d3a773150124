import PushServiceSimulator

/// The project that a simulator is for.
struct FCMProject: Sendable {
    /// Its identifier, which stands in the path.
    let id: String
    /// Its number, which may stand there as well.
    let number: String
    /// How many messages it may send a minute.
    let messagesPerMinute: Int
}

/// An answer of a simulator, to a message or to a request for an access token.
struct FCMAnswer {
    /// The header `content-type`.
    enum ContentType: String {
        case json = "application/json; charset=UTF-8"
        case html = "text/html; charset=UTF-8"
    }

    /// The HTTP status.
    var status: Int
    /// The meaning, for records and counts: FCM's code, or the name of the refusal; nil for success.
    var reason: String?
    var body: [UInt8]
    var type: ContentType
    /// The header `retry-after`.
    var retryAfter: String?

    init(status: Int, reason: String?, body: [UInt8], type: ContentType, retryAfter: String? = nil) {
        self.status = status
        self.reason = reason
        self.body = body
        self.type = type
        self.retryAfter = retryAfter
    }

    /// A refusal in JSON.
    init(_ error: GoogleError, reason: String) {
        self.init(status: error.status, reason: reason, body: error.body, type: .json)
    }

    /// A refusal as a page of the front end.
    init(page message: String, status: Int, reason: String) {
        let text = """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <title>Error \(status)!!1</title>
              <p><b>\(status).</b> <ins>That’s an error.</ins>
              <p>\(message)  <ins>That’s all we know.</ins>

            """
        self.init(status: status, reason: reason, body: Array(text.utf8), type: .html)
    }

    /// Acceptance: the message has a name from now on.
    init(accepted name: String) {
        let body = JSONNode.object([JSONMember(name: "name", value: .string(name))]).body
        self.init(status: 200, reason: nil, body: body, type: .json)
    }

    /// The same as a fault gives it.
    var faulty: FaultyAnswer {
        var answer = FaultyAnswer(status: status, reason: reason, body: body, contentType: type.rawValue)
        answer.retryAfter = retryAfter
        return answer
    }
}
