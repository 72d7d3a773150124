import HTTPServer
import PushServiceSimulator

/// The request headers that a push service looks at.
enum PushRequestField: Int {
    case method, path, authority, authorization, ttl, urgency, topic, contentEncoding

    /// The names on the wire, in the order of the cases; HTTP/2 has lowercase names only (RFC 9113, section 8.2).
    static let names: [StaticString] = [
        ":method", ":path", ":authority", "authorization", "ttl", "urgency", "topic", "content-encoding",
    ]
}

/// A request for a push, however it came.
struct WebPushRequest {
    var method: String
    /// The path with its query, as it was sent.
    var path: String
    /// The host and perhaps the port.
    var authority: String?
    var authorization: String?
    var ttl: String?
    var urgency: String?
    var topic: String?
    var contentEncoding: String?
    /// Whether one of these headers came more than once.
    var repeatsHeader = false
    /// The body, of a longer one its beginning.
    var body: [UInt8]
    /// How long the body was.
    var bodyLength: Int

    /// Takes a request of HTTP/2.
    init(_ request: RequestState) {
        let fields = request.fields
        self.init(body: request.payload, bodyLength: request.payloadLength) { field in
            fields[field.rawValue].map { String(decoding: $0, as: UTF8.self) }
        }
        repeatsHeader = fields.hasDuplicates
    }

    /// Takes a request of HTTP/1.1.
    init(_ request: HTTPRequest) {
        let query = request.target.rawQuery
        self.init(body: request.body, bodyLength: request.body.count) { field in
            switch field {
            case .method: request.method
            case .path: query.isEmpty ? request.target.rawPath : request.target.rawPath + "?" + query
            case .authority: request.field("host")
            default: request.field("\(PushRequestField.names[field.rawValue])")
            }
        }
        let names = ["authorization", "ttl", "urgency", "topic", "content-encoding"]
        repeatsHeader = names.contains { name in request.fields.count { $0.name == name } > 1 }
    }

    private init(body: [UInt8], bodyLength: Int, text: (PushRequestField) -> String?) {
        method = text(.method) ?? ""
        path = text(.path) ?? ""
        authority = text(.authority)
        authorization = text(.authorization)
        ttl = text(.ttl)
        urgency = text(.urgency)
        topic = text(.topic)
        contentEncoding = text(.contentEncoding)
        self.body = body
        self.bodyLength = bodyLength
    }
}
