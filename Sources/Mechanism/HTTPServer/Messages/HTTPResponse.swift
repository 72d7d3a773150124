/// An answer to a request; the server adds the length, the date and what concerns the connection.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// The header fields.
    public var fields: [HTTPField]
    /// The body; it is left out of the answer to HEAD.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response with a media type.
    public static func content(_ status: Int, type: String, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, fields: [HTTPField("Content-Type", type)], body: body)
    }

    /// A line of plain text.
    public static func text(_ status: Int, _ line: String) -> HTTPResponse {
        content(status, type: "text/plain; charset=utf-8", Array("\(line)\n".utf8))
    }
}
