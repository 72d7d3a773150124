import Essentials
import Glibc

/// Where a broker is and who we are there: an `amqp://` or `amqps://` address, taken apart.
///
/// The form is that of the RabbitMQ URI Specification: `amqp://user:password@host:port/vhost`, with every part but the
/// scheme optional and percent-encoded where needed.
public struct AMQPEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The name or the address of the host.
    public var host: String
    /// The TCP port.
    public var port: UInt16
    /// Whether to speak TLS (`amqps`).
    public var usesTLS: Bool
    /// The user.
    public var user: String
    /// The password.
    public var password: String
    /// The virtual host.
    public var virtualHost: String

    /// Takes an address apart.
    ///
    /// - Parameter url: for example `amqps://worker:secret@broker.example.com:5671/production`. Without a path the
    ///   virtual
    ///   host is `/`; a path of only `/` means the same, as with most clients, although the specification says the
    ///   empty
    ///   name.
    /// - Throws: `AMQPError` (`invalid`), with the part that is wrong and without the password.
    public init(_ url: String) throws(AMQPError) {
        var rest = Substring(url)
        if let stripped = Self.strip("amqps://", from: rest) {
            usesTLS = true
            rest = stripped
        } else if let stripped = Self.strip("amqp://", from: rest) {
            usesTLS = false
            rest = stripped
        } else {
            throw AMQPError(.invalid, "the broker's address must begin with amqp:// or amqps://")
        }
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count).dropFirst()
        virtualHost = path.isEmpty ? "/" : try Self.decode(path, part: "virtual host")
        var hostAndPort = authority
        (user, password) = ("guest", "guest")
        if let separator = authority.lastIndex(of: "@") {
            hostAndPort = authority[authority.index(after: separator)...]
            let credentials = authority[..<separator].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decode(credentials[0], part: "user")
            password = credentials.count > 1 ? try Self.decode(credentials[1], part: "password") : ""
        }
        (host, port) = try Self.parse(hostAndPort, defaultPort: usesTLS ? 5_671 : 5_672)
    }

    /// The address without its password, for logs and error texts.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let path = virtualHost == "/" ? "" : virtualHost
        return "\(usesTLS ? "amqps" : "amqp")://\(user)@\(name):\(port)/\(path)"
    }

    private static func strip(_ scheme: String, from url: Substring) -> Substring? {
        url.prefix(scheme.count).lowercased() == scheme ? url.dropFirst(scheme.count) : nil
    }

    private static func parse(
        _ text: Substring, defaultPort: UInt16
    ) throws(AMQPError) -> (host: String, port: UInt16) {
        var name = text
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else {
                throw AMQPError(.invalid, "the broker's address has a [ without a ]")
            }
            name = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw AMQPError(.invalid, "after the ] of the broker's address only a port may follow")
            }
            portText = rest.isEmpty ? nil : rest.dropFirst()
        } else if let separator = text.lastIndex(of: ":") {
            name = text[..<separator]
            portText = text[text.index(after: separator)...]
        }
        let host = try decode(name, part: "host")
        guard let portText, !portText.isEmpty else { return (host.isEmpty ? "localhost" : host, defaultPort) }
        guard let port = UInt16(portText), port > 0 else {
            throw AMQPError(.invalid, "the port of the broker's address is not a number from 1 to 65535: \(portText)")
        }
        return (host.isEmpty ? "localhost" : host, port)
    }

    private static func decode(_ text: Substring, part: String) throws(AMQPError) -> String {
        guard let decoded = PercentEncoding.bytes(of: text) else {
            throw AMQPError(.invalid, "the \(part) in the broker's address has a % without two hexadecimal digits")
        }
        guard let string = String(validating: decoded, as: UTF8.self), !decoded.contains(0) else {
            throw AMQPError(.invalid, "the \(part) in the broker's address is not valid text")
        }
        return string
    }

    /// Whether the host is an IPv4 or IPv6 address rather than a name.
    var isAddress: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}
