internal import Essentials

/// Text that must never be printed: a password, or a URL that holds one.
///
/// Any accidental print of the value (interpolation, `dump`, a debugger's summary) shows `[redacted]`.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text printed in place of a secret.
    public static let placeholder = "[redacted]"

    /// The secret itself; only for the library that needs it.
    public let revealed: String

    /// Wraps a secret.
    public init(_ text: String) { revealed = text }

    /// `[redacted]`.
    public var description: String { Self.placeholder }
    /// `[redacted]`.
    public var debugDescription: String { Self.placeholder }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Configuration {
    /// A password that everybody knows: RabbitMQ's first user has it, and it is no secret.
    private static let knownPassword = "guest"

    /// Every secret of the configuration, so that a text can be searched for them: URLs, the passwords in them, as
    /// written and decoded, the secrets of access keys and of webhooks, and their addresses, whose path may hold one.
    ///
    /// A URL without a password is among them, too.
    public var secrets: [String] {
        var urls = rabbitMQ.urls.map(\.revealed)
        urls += ([rabbitMQ.managementURL, webPush.proxy].compactMap(\.self) + apps.flatMap(\.proxies)).map(\.revealed)
        if case .postgres(let url) = registry { urls.append(url.revealed) }
        if relay.isConfigured { urls.append(relay.url.revealed) }
        let passwords = urls.flatMap { Self.passwords(in: $0) }
        return urls + passwords + registryAPI.accessKeys.map(\.secret.revealed) + apps.flatMap(\.secrets)
    }

    /// The passwords of `scheme://user:password@host/path?password=…`.
    private static func passwords(in url: String) -> [String] {
        guard let begin = url.firstRange(of: "://")?.upperBound else { return [] }
        var passwords = url[begin...].split(separator: "?", maxSplits: 1).dropFirst().flatMap { query in
            query.split(separator: "&").filter { $0.lowercased().hasPrefix("password=") }.map { $0.dropFirst(9) }
        }
        // A password may hold an at sign, although it should be written as %40.
        if let end = url[begin...].lastIndex(of: "@"), let colon = url[begin..<end].firstIndex(of: ":") {
            passwords.append(url[url.index(after: colon)..<end])
        }
        return passwords.flatMap { password in
            let decoded = PercentEncoding.bytes(of: password).map { String(decoding: $0, as: UTF8.self) }
            return [String(password), decoded].compactMap(\.self)
        }.filter { !$0.isEmpty && $0 != knownPassword }
    }
}
