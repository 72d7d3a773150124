/// Where requests go: a destination and a path, read from a URL.
public struct PostAddress: Sendable {
    /// The expected form of a URL, for messages.
    public static let expected = "http://HOST:PORT/PATH or https://HOST:PORT/PATH, without a user and without blanks"

    /// The host, the port, and whether TLS is used.
    public var destination: PostDestination
    /// The path with the query; `/` if there is none.
    public var path: String

    /// The address without path, as a log may show it: a path or a query may hold a secret.
    public var origin: String { "\(destination.scheme)://\(destination.urlHost):\(destination.port)" }

    /// Reads a URL (RFC 3986 section 3); nil if it names a user, or has a part that cannot be sent.
    ///
    /// - Parameter url: an address of HTTP or HTTPS. The usual port is that of the scheme.
    public init?(_ url: String) {
        let scheme: Substring
        let rest: Substring
        if url.lowercased().hasPrefix("http://") {
            (scheme, rest) = ("http", url.dropFirst(7))
        } else if url.lowercased().hasPrefix("https://") {
            (scheme, rest) = ("https", url.dropFirst(8))
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest[authority.endIndex...].prefix { $0 != "#" }
        guard let (host, port) = Self.hostAndPort(authority, fallback: scheme == "https" ? 443 : 80) else { return nil }
        destination = PostDestination(host: host, port: port)
        destination.isEncrypted = scheme == "https"
        path = tail.hasPrefix("/") ? String(tail) : "/\(tail)"
        guard path.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    }

    private static func hostAndPort(_ authority: Substring, fallback: UInt16) -> (String, UInt16)? {
        var host = authority
        var portText: Substring = ""
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { return nil }
            host = authority[..<bracket].dropFirst()
            let after = authority[bracket...].dropFirst()
            guard after.isEmpty || after.hasPrefix(":"), host.utf8.allSatisfy(isAddressByte) else { return nil }
            portText = after.dropFirst()
        } else {
            host = authority.prefix { $0 != ":" }
            portText = authority[host.endIndex...].dropFirst()
            guard host.utf8.allSatisfy(isNameByte) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if portText.isEmpty { return (String(host), fallback) }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText), port > 0 else {
            return nil
        }
        return (String(host), port)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66, UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }
}
