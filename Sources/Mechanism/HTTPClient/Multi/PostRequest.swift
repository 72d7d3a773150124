/// A POST, for `HTTPMultiClient`.
public struct PostRequest: Sendable {
    /// Where it goes.
    public var destination: PostDestination
    /// The path and the query, as they are to be sent: printable ASCII that begins with a slash.
    public var path: String
    /// The header fields; a line feed in one makes the request fail.
    public var fields: [(name: String, value: String)]
    /// The body, at least one byte; its first byte marks the border between a request that is unsent and one that may
    /// have been processed.
    public var body: [UInt8]
    /// How long all of it may take, the wait for a connection included, in nanoseconds.
    public var timeoutNanoseconds: UInt64
    /// Whether it goes over a connection that is made for it, and over no present one.
    public var needsNewConnection = false

    /// Describes a request.
    public init(
        to destination: PostDestination, path: String, fields: [(name: String, value: String)], body: [UInt8],
        timeoutNanoseconds: UInt64 = 20_000_000_000
    ) {
        self.destination = destination
        self.path = path
        self.fields = fields
        self.body = body
        self.timeoutNanoseconds = timeoutNanoseconds
    }

    /// Why it cannot be sent as it stands; nil if it can.
    var problem: String? {
        if body.isEmpty { return "the request has no body" }
        guard path.utf8.first == UInt8(ascii: "/"),
            path.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") })
        else { return "the path is not printable ASCII that begins with a slash" }
        let isField = fields.allSatisfy { name, value in
            !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ":") }
                && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
        }
        if !isField { return "a header field has a character that cannot be sent" }
        return destination.problem
    }
}

/// An origin, and the way to it.
public struct PostDestination: Sendable {
    /// The name, or the address without brackets; the certificate must be made out to it.
    public var host: String
    /// The port.
    public var port: UInt16
    /// Whether it is spoken to by HTTPS; a service of the operator's own network may do without.
    public var isEncrypted = true
    /// Which of the addresses that the name resolves to may be connected to, given as 4 or 16 bytes; nil for all.
    ///
    /// For an origin that a stranger named. It is asked between the look-up and the connection, so that no second
    /// look-up can give others. With a proxy it is not asked, because the proxy looks names up.
    public var admitsAddress: (@Sendable ([UInt8]) -> Bool)?
    /// A file of PEM certificates to trust beside the system's; empty for none.
    public var caFile: String
    /// The proxy to go through; nil for none, and never one of the environment.
    public var proxy: PostProxy?

    /// Names a destination.
    public init(
        host: String, port: UInt16 = 443, caFile: String = "", proxy: PostProxy? = nil,
        admitsAddress: (@Sendable ([UInt8]) -> Bool)? = nil
    ) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.proxy = proxy
        self.admitsAddress = admitsAddress
    }

    /// The scheme as a URL has it.
    var scheme: String { isEncrypted ? "https" : "http" }

    /// The host as a URL has it.
    var urlHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Why nothing can be sent there; nil if it can.
    ///
    /// libcurl's parser of URLs reads a text that passes this check as a host, and as nothing else.
    var problem: String? {
        for text in [host] + (proxy.map { [$0.host] } ?? []) where !Self.isHost(text) {
            return "\"\(text.prefix(64).filter { $0.isASCII && !$0.isWhitespace })\" is no host"
        }
        return port == 0 ? "the port 0 cannot be connected to" : nil
    }

    private static func isHost(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}

/// An HTTP proxy, which is asked for a tunnel (CONNECT, RFC 9110 section 9.3.6).
public struct PostProxy: Hashable, Sendable {
    /// The name, or the address without brackets.
    public var host: String
    /// The port.
    public var port: UInt16
    /// The value of the header `proxy-authorization`, a secret; nil without credentials.
    public var authorization: String?

    /// Names a proxy.
    public init(host: String, port: UInt16, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// The proxy as libcurl takes it.
    var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
