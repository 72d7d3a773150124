import Synchronization

/// How clients reach this server, as the configuration has it; what a request says of it does not count.
///
/// A request can name any host, and the URL that a client gets is a secret that must lead nowhere else.
final class CourierAddress: Sendable {
    private let publicURL: String?
    private let loopbackOrigin: String?
    private let port: Atomic<UInt16>

    init(_ configuration: RegistryServerConfiguration) {
        publicURL = configuration.publicURL
        let scheme = configuration.identity == nil ? "http" : "https"
        loopbackOrigin = Self.loopbackHost(configuration.host).map { "\(scheme)://\($0)" }
        port = Atomic(configuration.port)
    }

    /// Notes the port, which the system may have chosen.
    func listens(on port: UInt16) { self.port.store(port, ordering: .relaxed) }

    /// The URL without a slash at its end, for example `https://push.example.com`.
    ///
    /// Without a public URL it is the address that is listened on, if only this machine can reach that; else nil.
    var base: String? {
        publicURL ?? loopbackOrigin.map { "\($0):\(port.load(ordering: .relaxed))" }
    }

    private static func loopbackHost(_ host: String) -> String? {
        if host == "::1" { return "[::1]" }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return host == "localhost" || isAddress && parts[0] == "127" ? host : nil
    }
}
