/// A host and a port: `127.0.0.1:9464`, `[::1]:9464`, `api.push.apple.com:443`.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; an IPv6 address without its brackets.
    public let host: String
    /// The port; 0 where the system is to choose one.
    public let port: UInt16

    /// Creates a pair.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`; the result is nil if the text is anything else.
    ///
    /// - Parameters:
    ///   - text: the text to read; an IPv6 address stands in brackets.
    ///   - defaultPort: the port if none is written; without it, one has to be.
    public init?(_ text: String, defaultPort: UInt16? = nil) {
        var host = text[...]
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            if !rest.isEmpty { portText = rest.dropFirst() }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            portText = text[text.index(after: colon)...]
            guard !host.contains(":") else { return nil }
        }
        let isName = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-:_%".contains($0)) }
        guard !host.isEmpty, isName, let port = portText.map({ UInt16($0) }) ?? defaultPort else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// The text from which the pair would be read.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool {
        // A name may begin like an address of the loopback network.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return host == "localhost" || host == "::1" || (host.hasPrefix("127.") && isAddress)
    }
}
