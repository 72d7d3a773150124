import Essentials

/// An HTTP proxy through which connections to a push service are made, by its method CONNECT (RFC 9110, section 9.3.6).
///
/// TLS goes through the tunnel, so the proxy sees the name of the endpoint and how much is sent, but no push. Any
/// accidental print of a proxy (interpolation, `dump`, a debugger's summary) shows its host and port, never its
/// credentials.
public struct HTTPProxy: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name or address of the proxy.
    public let host: String
    /// The port of the proxy.
    public let port: UInt16
    /// The value of the header `proxy-authorization`, a secret; nil without credentials.
    let authorization: String?

    /// Describes a proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address; an IPv6 address without its brackets.
    ///   - port: the port.
    ///   - user: the name for the scheme Basic (RFC 7617), without a colon; nil for a proxy that asks for none.
    ///   - password: the password.
    public init(host: String, port: UInt16, user: String? = nil, password: String = "") {
        self.host = host
        self.port = port
        authorization = user.map { "Basic " + Base64.encode(Array("\($0):\(password)".utf8)) }
    }

    /// Reads `http://[user[:password]@]host[:port]`; the port is 80 if none is written.
    ///
    /// - Parameter url: the text; special characters of the user and the password are written as `%XX`.
    /// - Throws: `ServiceError` with `proxyInvalid`, which names the problem without a word of the URL.
    public init(url: String) throws(ServiceError) {
        var rest = url[...]
        guard rest.lowercased().hasPrefix("http://") else {
            let isOther = url.lowercased().hasPrefix("https://") || url.lowercased().hasPrefix("socks")
            throw Self.invalid(
                isOther
                    ? "only plain HTTP is spoken to a proxy (what goes through it is encrypted all the same)"
                    : "it does not begin with http://")
        }
        rest.removeFirst("http://".count)
        if rest.hasSuffix("/") { rest.removeLast() }
        let parts = rest.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw Self.invalid("the user or the password holds a '@', which is written %40") }
        guard let hostPort = parts.last, let (host, port) = Self.hostAndPort(hostPort) else {
            throw Self.invalid("its host or its port is missing or malformed")
        }
        guard parts.count == 2 else {
            self.init(host: host, port: port)
            return
        }
        let credentials = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = credentials.first.flatMap(Self.decoded),
            let password = Self.decoded(credentials.count == 2 ? credentials[1] : "")
        else { throw Self.invalid("a '%' in it is not followed by two hexadecimal digits") }
        guard !user.contains(":") else { throw Self.invalid("the user holds a ':', which the scheme Basic forbids") }
        self.init(host: host, port: port, user: user, password: password)
    }

    /// Reads a URL, as `init(url:)` does; nil for none.
    public static func at(_ url: String?) throws(ServiceError) -> HTTPProxy? {
        if let url { try HTTPProxy(url: url) } else { nil }
    }

    /// The host and the port.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    /// The host and the port.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    private static func invalid(_ reason: String) -> ServiceError {
        ServiceError(.proxyInvalid, "the proxy's URL cannot be used: \(reason); write http://USER:PASSWORD@HOST:PORT")
    }

    private static func hostAndPort(_ text: Substring) -> (host: String, port: UInt16)? {
        guard let (host, port) = ServiceEndpoint.parts(of: text, defaultPort: 80),
            text.hasPrefix("[") || !host.contains(":")
        else { return nil }
        let isName = host.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":")].contains($0)
        }
        return host.utf8.count <= 253 && isName ? (String(host), port) : nil
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.bytes(of: text).map { String(decoding: $0, as: UTF8.self) }
    }
}
