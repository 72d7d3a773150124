import Essentials

/// The claim `aud` of tokens: the origin of a push service (RFC 8292 section 2, in the form of RFC 6454 section 6.2).
///
/// All endpoints of one origin share a token.
public struct VAPIDAudience: Sendable, Hashable, CustomStringConvertible {
    /// The origin: `https://`, the host in small letters, and the port if it is not 443; no slash at the end.
    public let origin: String

    /// The longest host name (RFC 1035 section 2.3.4).
    private static let hostBytesMaximum = 253

    /// Takes the origin out of an endpoint.
    ///
    /// - Parameter endpoint: the absolute URL that a subscription names. The path is a secret and does not appear in
    ///   the error.
    /// - Throws: `VAPIDError` with `endpointInvalid` if it does not begin with `https://` and a host, or has anything
    ///   there that programs read in different ways: a user, a backslash, a character that no host has.
    public init(endpoint: String) throws(VAPIDError) {
        let scheme = "https://"
        guard endpoint.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 | 0x20 }) else {
            throw VAPIDError(.endpointInvalid, "an endpoint must begin with \(scheme) (RFC 8030 section 8)")
        }
        let authority = endpoint.utf8.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
        let text = String(decoding: authority.prefix(Self.hostBytesMaximum + 8), as: UTF8.self).lowercased()
        guard let (host, port) = Self.hostAndPort(text) else {
            throw VAPIDError(
                .endpointInvalid,
                "an endpoint has no usable host or port: \"\(text.shortened(bytesMaximum: 80).printable())\"; "
                    + "expected a DNS name or an address, and a port from 1 to 65535 or none")
        }
        origin = scheme + host + (port == 443 ? "" : ":\(port)")
    }

    /// The host, in small letters; an IPv6 address without its brackets.
    var host: String {
        let authority = origin.dropFirst("https://".count)
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// The origin.
    public var description: String { origin }

    private static func hostAndPort(_ authority: String) -> (host: Substring, port: UInt16)? {
        var host = authority[...]
        var rest: Substring = ""
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            rest = authority[authority.index(after: end)...]
            host = authority[...end]
            let address = host.dropFirst().dropLast().utf8
            guard !address.isEmpty, address.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ":") }) else { return nil }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                rest = authority[colon...]
            }
            guard host.utf8.allSatisfy({ isDigit($0) || isOther($0) }) else { return nil }
        }
        guard (1...hostBytesMaximum).contains(host.utf8.count) else { return nil }
        guard !rest.isEmpty else { return (host, 443) }
        let digits = rest.dropFirst()
        guard rest.hasPrefix(":"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
            port > 0
        else { return nil }
        return (host, port)
    }

    /// A hexadecimal digit, or a period, as addresses have them.
    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || byte == UInt8(ascii: ".")
    }

    /// Whether a character belongs to names alone: a letter after `f`, a hyphen or an underscore.
    private static func isOther(_ byte: UInt8) -> Bool {
        (0x67...0x7A).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
