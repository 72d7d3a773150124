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

    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found",
        304: "Not Modified", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
        412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed", 421: "Misdirected Request",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]
    /// The fields that the server sets itself, and handlers must not.
    private static let ownNames: Set<String> = ["connection", "content-length", "date", "transfer-encoding"]

    /// The bytes of the response (RFC 9112 section 4).
    ///
    /// A field that is not well-formed is left out: its value may have come from outside. An answer that says nothing
    /// of caches is not to be kept.
    ///
    /// - Parameters:
    ///   - isHead: whether it answers HEAD, so that the body is left out.
    ///   - closes: whether the connection ends with it.
    ///   - date: the time, as a field's value.
    /// - Returns: the head and the body.
    func wireBytes(isHead: Bool, closes: Bool, date: String) -> [UInt8] {
        let hasBody = status >= 200 && status != 204 && status != 304
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\nDate: \(date)\r\n"
        if !fields.contains(where: { $0.name == "Cache-Control" }) { head += "Cache-Control: no-store\r\n" }
        for field in fields where Self.isWellFormed(field) { head += "\(field.name): \(field.value)\r\n" }
        if hasBody { head += "Content-Length: \(body.count)\r\n" }
        if closes { head += "Connection: close\r\n" }
        head += "\r\n"
        var bytes = Array(head.utf8)
        if hasBody, !isHead { bytes += body }
        return bytes
    }

    private static func isWellFormed(_ field: HTTPField) -> Bool {
        !field.name.isEmpty && field.name.utf8.allSatisfy(OctetClass.isToken)
            && field.value.utf8.allSatisfy(OctetClass.isFieldContent) && !ownNames.contains(field.name.lowercased())
    }
}

/// One header field of a request or a response.
public struct HTTPField: Hashable, Sendable {
    /// The name; in requests it is in lower case.
    public let name: String
    /// The value, without white space around it.
    public let value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The value of the only field of that name, which is given in lower case; nil if there is none or several.
    public func value(_ name: String) -> String? {
        let found = lazy.filter { $0.name == name }.prefix(2)
        return found.count == 1 ? found.first?.value : nil
    }
}
