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
