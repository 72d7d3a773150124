import Essentials
import Glibc

/// The hosts that a server answers for.
///
/// A page of another site can make its visitor's browser ask any address by a name of its own ("DNS rebinding"): the
/// browser then sends that name as `Host`. Addresses in numbers cannot be rebound, so they are always served.
public struct HTTPHosts: Sendable {
    private enum Rule {
        case all
        case names(Set<String>)
    }

    /// The name of this machine in lower case; empty if it has none.
    private static let ownName: String = {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
    }()

    private let rule: Rule

    /// Every host.
    public static let all = HTTPHosts(rule: .all)

    /// These names, `localhost`, the name of this machine, and every address in numbers.
    ///
    /// - Parameter names: names without ports, in any case; `*` means every host.
    /// - Returns: the hosts.
    public static func names(_ names: some Sequence<String>) -> HTTPHosts {
        let names = Set(names.map { $0.hasSuffix(".") ? $0.dropLast().lowercased() : $0.lowercased() })
        return names.contains("*") ? all : HTTPHosts(rule: .names(names.union(["localhost", ownName])))
    }

    private init(rule: Rule) { self.rule = rule }

    /// Whether a request is for one of the hosts; one without a host, of HTTP/1.0, comes from no browser.
    func serve(_ request: HTTPRequest) -> Bool {
        guard case .names(let names) = rule, let field = request.field("host") else { return true }
        guard let host = HTTPHost(field) else { return false }
        return host.isAddress || names.contains(host.name)
    }
}

/// The host of a request: a name or an address, and an optional port (RFC 3986 section 3.2.2).
struct HTTPHost: Hashable {
    private static let bytesMaximum = 255
    private static let nameMarks = Array("-._~".utf8)

    /// The name or the address in lower case, without brackets and without the port.
    let name: String
    /// Whether it is an address in numbers, and not a name that a resolver was asked for.
    let isAddress: Bool

    /// Reads a host; nil if it is none.
    init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMaximum else { return nil }
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let address = rest[rest.index(after: rest.startIndex)..<end]
            guard
                !address.isEmpty,
                address.allSatisfy({ HexadecimalDigits.value(of: $0) != nil || $0 == 0x3A || $0 == 0x2E })
            else { return nil }
            name = String(decoding: address, as: UTF8.self).lowercased()
            isAddress = true
            rest = rest[rest.index(after: end)...]
        } else {
            let host = rest.prefix { $0 != UInt8(ascii: ":") }
            guard
                !host.isEmpty,
                host.allSatisfy({ OctetClass.isDigit($0) || OctetClass.isLetter($0) || Self.nameMarks.contains($0) })
            else { return nil }
            let text = String(decoding: host, as: UTF8.self).lowercased()
            // A dot at the end says that the name is complete.
            name = text.hasSuffix(".") ? String(text.dropLast()) : text
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
            rest = rest[host.endIndex...]
        }
        guard !name.isEmpty, Self.isPort(rest) else { return nil }
    }

    /// Whether a text is a host.
    static func isWellFormed(_ text: String) -> Bool { HTTPHost(text) != nil }

    private static func isPort(_ rest: Substring.UTF8View) -> Bool {
        guard let first = rest.first else { return true }
        let digits = rest.dropFirst()
        return first == UInt8(ascii: ":") && digits.count <= 5 && digits.allSatisfy(OctetClass.isDigit)
    }
}
