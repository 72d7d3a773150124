import HTTPServer

/// How clients reach this server.
struct CourierAddress: Sendable {
    private static let hostCharacters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]".utf8)

    /// What the operator says; nil if nothing.
    let publicURL: String?
    /// Whether the server has a certificate.
    let isSecure: Bool

    /// The URL without a slash at its end, for example `https://push.example.com`; nil if it cannot be known.
    ///
    /// - Parameter request: the request of the client, whose header `Host` tells how it came here (RFC 9112 section
    ///   3.2).
    /// - Returns: the URL.
    func base(for request: HTTPRequest) -> String? {
        if let publicURL { return publicURL }
        guard let host = request.field("host"), (1...255).contains(host.utf8.count),
            host.utf8.allSatisfy(Self.hostCharacters.contains)
        else { return nil }
        return "\(isSecure ? "https" : "http")://\(host)"
    }
}
