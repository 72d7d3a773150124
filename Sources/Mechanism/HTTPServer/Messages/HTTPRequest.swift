import Essentials

/// A request that has come in whole.
public struct HTTPRequest: Sendable {
    /// The method, for example `GET`, as it was sent.
    public let method: String
    /// The path and the query.
    public let target: HTTPTarget
    /// The header fields in their order, names in lower case.
    public let fields: [HTTPField]
    /// The body; empty if there is none.
    public let body: [UInt8]
    /// The numeric address of the connection's peer; empty if unknown.
    public let clientAddress: String

    /// Creates a request.
    public init(
        method: String, target: HTTPTarget, fields: [HTTPField], body: [UInt8] = [], clientAddress: String = ""
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.clientAddress = clientAddress
    }

    /// The key for limits by address: the address, or its network of IPv6.
    public var clientShare: String { ClientAddress(clientAddress).share }

    /// The same request with its body.
    func with(body: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: method, target: target, fields: fields, body: body, clientAddress: clientAddress)
    }

    /// The value of the only field of that name, which is given in lower case; nil if there is none or several.
    public func field(_ name: String) -> String? { fields.value(name) }

    /// The content coding of the body as it was sent, for example `gzip`; nil if there is none.
    ///
    /// Nothing here decodes a body: some kilobytes could become gigabytes.
    public var contentCoding: String? {
        let codings = fields.filter { $0.name == "content-encoding" }.flatMap { $0.value.split(separator: ",") }
        return codings.map { $0.filter { $0 != " " && $0 != "\t" } }
            .first { !$0.isEmpty && $0.lowercased() != "identity" }
    }

    /// The value of the only query item of that name; nil if there is none or several.
    public func query(_ name: String) -> String? {
        let found = target.queryItems.lazy.filter { $0.name == name }.prefix(2)
        return found.count == 1 ? found.first?.value : nil
    }
}

/// The target of a request, `/path/segments?query=items`, read strictly (RFC 9112 section 3.2.1, RFC 3986).
///
/// A percent sign that is not followed by two hexadecimal digits, a NUL, text that is not UTF-8, and a path that does
/// not begin with a slash are refused: no two parts of a program may read such a target differently. Dots are segments
/// like any other; nothing here is a file.
public struct HTTPTarget: Hashable, Sendable {
    /// How many segments a path may have, and how many items a query.
    static let partsMaximum = 64

    /// The path as it was sent.
    public let rawPath: String
    /// The query as it was sent, without the question mark; empty if there is none.
    public let rawQuery: String
    /// The segments between the slashes of the path, percent-decoded; empty for `/`.
    public let segments: [String]
    /// The items of the query in their order, percent-decoded; a plus sign is a plus sign.
    public let queryItems: [HTTPQueryItem]

    /// Reads a target, or answers nil.
    public init?(_ text: String) {
        let path = text.prefix { $0 != "?" }
        guard path.hasPrefix("/"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { return nil }
        rawPath = String(path)
        rawQuery = String(text.dropFirst(path.count + 1))
        let parts = path == "/" ? [] : path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= Self.partsMaximum else { return nil }
        var segments: [String] = []
        for part in parts {
            guard let segment = Self.decode(part) else { return nil }
            segments.append(segment)
        }
        self.segments = segments
        let pairs = text.dropFirst(path.count + 1).split(separator: "&")
        guard pairs.count <= Self.partsMaximum else { return nil }
        var items: [HTTPQueryItem] = []
        for pair in pairs {
            let name = pair.prefix { $0 != "=" }
            guard let decodedName = Self.decode(name), let value = Self.decode(pair.dropFirst(name.count + 1)) else {
                return nil
            }
            items.append(HTTPQueryItem(name: decodedName, value: value))
        }
        queryItems = items
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(text).flatMap { $0.utf8.contains(0) ? nil : $0 }
    }
}

/// One part of a query: `name=value`, percent-decoded.
public struct HTTPQueryItem: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value; empty if there is no equals sign.
    public let value: String

    /// Creates an item.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
