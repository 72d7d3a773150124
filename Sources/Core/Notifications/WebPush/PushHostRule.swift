/// To which hosts pushes to browsers go: the one rule for a registration and for a push.
///
/// A client of the registry chooses the endpoint, so a host is refused unless it may be on the public network.
/// `addressPolicy` checks the addresses of a name after its look-up. A host that is neither a public address nor a
/// public name is refused here, before any look-up and before a proxy hears of it.
public struct PushHostRule: Hashable, Sendable {
    /// The push services of the large browsers: hosts, or suffixes that begin with a dot.
    public static let largeServices = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", ".push.apple.com",
        ".notify.windows.com",
    ]
    /// The names below which nothing public is (RFC 6761, 6762 and 8375; ICANN reserved `internal` in 2024).
    private static let privateDomains = ["localhost", "local", "localdomain", "internal", "home.arpa"]

    /// Hosts that an operator knows: names in small letters, or suffixes that begin with a dot.
    public var knownHosts = largeServices
    /// Whether pushes go to known hosts only.
    public var refusesUnknownHosts = false
    /// Hosts whose addresses and ports are not checked, in small letters: a simulator, or a service in the own network.
    ///
    /// With a port (`localhost:8443`), only that port of the host is trusted.
    public var trustedHosts: [String] = []
    /// To which addresses all other hosts may lead.
    public var addressPolicy = AddressPolicy()

    /// Creates the usual rule: any public host.
    public init() {}

    /// How a host is known.
    public enum Standing: Hashable, Sendable {
        /// An operator named it, or it is that of a large service.
        case named
        /// It is below this suffix that an operator named, or that is of a large service. Anybody can make up such a
        /// name, although it leads nowhere then.
        case below(suffix: String)
        /// Nothing: a browser brought it.
        case stranger
    }

    /// Finds how a host is known.
    ///
    /// - Parameters:
    ///   - host: the host, in small letters.
    ///   - port: the port.
    /// - Returns: whether it is known, and how.
    public func standing(ofHost host: String, port: UInt16) -> Standing {
        if trusts(host: host, port: port) { return .named }
        var suffix: String?
        for known in knownHosts {
            if known == host { return .named }
            if suffix == nil, known.hasPrefix("."), host.hasSuffix(known) { suffix = known }
        }
        return suffix.map { .below(suffix: $0) } ?? .stranger
    }

    /// Whether an endpoint is used without a look at its addresses and its port.
    public func trusts(host: String, port: UInt16) -> Bool {
        // An address of IPv6 followed by a port reads as another address.
        trustedHosts.contains(host) || !host.contains(":") && trustedHosts.contains("\(host):\(port)")
    }

    /// Says why no push goes to a host.
    ///
    /// - Parameters:
    ///   - host: the host, in small letters; an IPv6 address with or without its brackets.
    ///   - port: the port.
    /// - Returns: the problem, as the end of a sentence; nil if pushes go there.
    public func problem(ofHost host: String, port: UInt16) -> String? {
        if trusts(host: host, port: port) { return nil }
        switch LiteralHost(host) {
        case .malformed: return "its host is neither a name nor an address"
        case .address(let bytes):
            guard addressPolicy.allows(bytes) else { return "its host is not a public address" }
        case .name(let name):
            let isPrivate = Self.privateDomains.contains { name == $0 || name.hasSuffix("." + $0) }
            guard name.contains(".") && !isPrivate || standing(ofHost: host, port: port) != .stranger else {
                return "its host is not the public name of a push service"
            }
        }
        if refusesUnknownHosts, standing(ofHost: host, port: port) == .stranger {
            return "pushes go to known hosts only, and this is none of them"
        }
        return port == 443 ? nil : "its port must be 443"
    }

    /// Says why no push goes to an endpoint.
    ///
    /// - Parameter endpoint: the endpoint, whose form has been checked.
    /// - Returns: the problem, as the end of a sentence, without the endpoint; nil if pushes go there.
    public func problem(ofEndpoint endpoint: [UInt8]) -> String? {
        let rest = endpoint.dropFirst("https://".utf8.count)
        let authority = String(decoding: rest.prefix { !"/?#".utf8.contains($0) }, as: UTF8.self).lowercased()
        let end = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: ":")
        var host = authority[..<(colon ?? authority.endIndex)]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let port = colon.map { UInt16(authority[authority.index(after: $0)...]) ?? 0 } ?? 443
        return problem(ofHost: String(host), port: port)
    }
}
