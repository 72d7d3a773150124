/// The host and port of a push service.
public struct ServiceEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The name, or the address without brackets.
    public var host: String
    /// The port.
    public var port: UInt16

    /// Creates an endpoint of parts that are known to be good.
    public init(host: String, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }

    /// Reads `host`, `host:port`, `[address]` or `[address]:port`.
    ///
    /// - Parameters:
    ///   - text: the text; empty for the default.
    ///   - defaultHost: the host if the text is empty, and the example in the error.
    ///   - defaultPort: the port if the text names none.
    /// - Throws: `ServiceError` with `routeInvalid` if the text is not of that form.
    public init(_ text: String, defaultHost: String, defaultPort: UInt16 = 443) throws(ServiceError) {
        guard !text.isEmpty else {
            self.init(host: defaultHost, port: defaultPort)
            return
        }
        guard let (host, port) = Self.parts(of: text[...], defaultPort: defaultPort), Self.isHost(host) else {
            throw ServiceError(
                .routeInvalid,
                "the endpoint \"\(text.prefix(128))\" must be host or host:port, like \(defaultHost):443")
        }
        self.init(host: String(host), port: port)
    }

    /// Splits `host`, `host:port`, `[address]` or `[address]:port`; nil if the host is empty, or the port is none.
    static func parts(of text: Substring, defaultPort: UInt16) -> (host: Substring, port: UInt16)? {
        var host = text
        var port = String(defaultPort)[...]
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty { port = rest.hasPrefix(":") ? rest.dropFirst() : "" }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard let number = UInt16(port), number > 0, !host.isEmpty else { return nil }
        return (host, number)
    }

    /// The host and port as one text; an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether the text can stand in a name look-up and in the header `:authority`.
    private static func isHost(_ host: Substring) -> Bool {
        host.utf8.count <= 253 && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
    }
}
