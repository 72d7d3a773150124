import HTTPServer
import PushServiceSimulator

/// The request headers that a push service looks at.
enum PushRequestField: Int, CaseIterable {
    case method
    case path
    case authority
    case authorization
    case ttl
    case urgency
    case topic
    case contentEncoding

    /// The name on the wire.
    var name: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authority: ":authority"
        case .authorization: "authorization"
        case .ttl: "ttl"
        case .urgency: "urgency"
        case .topic: "topic"
        case .contentEncoding: "content-encoding"
        }
    }
}

/// A request for a push, however it came.
struct PushRequest {
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
        func text(_ field: PushRequestField) -> String? {
            fields[field.rawValue].map { String(decoding: $0, as: UTF8.self) }
        }
        method = text(.method) ?? ""
        path = text(.path) ?? ""
        authority = text(.authority)
        authorization = text(.authorization)
        ttl = text(.ttl)
        urgency = text(.urgency)
        topic = text(.topic)
        contentEncoding = text(.contentEncoding)
        repeatsHeader = fields.hasDuplicates
        body = request.payload
        bodyLength = request.payloadLength
    }

    /// Takes a request of HTTP/1.1.
    init(_ request: HTTPRequest) {
        method = request.method
        let query = request.target.rawQuery
        path = query.isEmpty ? request.target.rawPath : request.target.rawPath + "?" + query
        authority = request.field("host")
        authorization = request.field("authorization")
        ttl = request.field("ttl")
        urgency = request.field("urgency")
        topic = request.field("topic")
        contentEncoding = request.field("content-encoding")
        let names = ["authorization", "ttl", "urgency", "topic", "content-encoding"]
        repeatsHeader = names.contains { name in request.fields.count { $0.name == name } > 1 }
        body = request.body
        bodyLength = request.body.count
    }
}
