/// A request line with its header fields, as the parser has read it.
struct HTTPRequestHead: Hashable {
    /// How the body is delimited (RFC 9112 section 6).
    enum Framing: Hashable {
        /// There is none.
        case none
        /// So many bytes follow, at least one.
        case length(Int)
        /// Chunks follow.
        case chunked
    }

    /// The method, a token.
    var method = ""
    /// The target as it was sent: printable ASCII without blanks.
    var rawTarget = ""
    /// Whether it is HTTP/1.1, and not 1.0.
    var isVersionOneOne = true
    /// The header fields in their order, names in lower case.
    var fields: [HTTPField] = []
    /// How the body is delimited.
    var framing = Framing.none
    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue = false
    /// Whether the connection ends with this request.
    var closesConnection = false

    /// The values of the fields of that name, which is given in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The path and the query of the target.
    ///
    /// A client of a proxy sends the whole URL; its host is then the same as that of the field `Host` (RFC 9112 section
    /// 3.2), or this is nil.
    var originTarget: String? {
        guard let scheme = ["http://", "https://"].first(where: { rawTarget.lowercased().hasPrefix($0) }) else {
            return rawTarget
        }
        let rest = rawTarget.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard authority.lowercased() == values("host").first?.lowercased() else { return nil }
        let target = rest.dropFirst(authority.count)
        return target.hasPrefix("/") ? String(target) : "/\(target)"
    }

    /// The address that a proxy forwards (`[HTTPField].forwardedAddress`).
    var forwardedAddress: String? { fields.forwardedAddress }
}
