internal import Essentials

/// Checks a broker's URL, and shows it without its password.
///
/// The shape is that of RabbitMQ's "RabbitMQ URI Specification":
/// `amqp[s]://[user[:password]@]host[:port][/vhost]`.
struct BrokerURL {
    /// The user, percent-decoded; `guest` if none is written, as the specification says.
    let user: String
    /// Whether a password other than that of `guest` is written in it.
    let holdsSecret: Bool
    /// The host and the port.
    let address: HostPort

    /// The problem of a URL, without any of its content.
    struct Failure: Error {
        /// The problem.
        let message: String
    }

    /// Checks a URL.
    init(_ text: String) throws(Failure) {
        let schemes: [(prefix: String, port: UInt16)] = [("amqp://", 5_672), ("amqps://", 5_671)]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0.prefix) }) else {
            throw Failure(message: "the URL does not begin with amqp:// or amqps://")
        }
        let rest = text.dropFirst(scheme.prefix.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(authority.count)
        guard !path.contains("?"), !path.contains("#") else {
            throw Failure(message: "the URL has a query or a fragment, which Apus does not support")
        }
        guard path.dropFirst().allSatisfy({ $0 != "/" }) else {
            throw Failure(message: "a '/' in the virtual host has to be written as %2F")
        }
        let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw Failure(message: "an '@' in the password has to be written as %40") }
        let credentials = parts.count == 2 ? parts[0] : "guest:guest"
        let fields = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        for field in fields + [path] where PercentEncoding.bytes(of: field) == nil {
            throw Failure(message: "a '%' is not followed by two hexadecimal digits")
        }
        guard let host = parts.last, let address = HostPort(String(host), defaultPort: scheme.port), address.port > 0
        else {
            throw Failure(message: "the host or the port is missing or malformed")
        }
        self.address = address
        user = String(decoding: fields.first.flatMap { PercentEncoding.bytes(of: $0) } ?? [], as: UTF8.self)
        holdsSecret = fields.count == 2 && fields[1] != "guest"
    }

    /// The URL with its password replaced; works for any text, whether it is a URL or not.
    ///
    /// A PostgreSQL URL may also have passwords among its parameters.
    static func redacted(_ text: String) -> String {
        let shown = withoutUserPassword(text)
        guard let question = shown.firstIndex(of: "?"), text.hasPrefix("postgres") else { return shown }
        let parameters = shown[question...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        let safe = parameters.map { parameter in
            let name = parameter.prefix { $0 != "=" }
            let isSecret = name.lowercased().hasSuffix("password") || name.contains("%")
            return isSecret ? "\(name)=\(Secret.placeholder)" : String(parameter)
        }
        return shown[...question] + safe.joined(separator: "&")
    }

    private static func withoutUserPassword(_ text: String) -> String {
        guard let start = text.firstRange(of: "://") else { return text.contains("@") ? Secret.placeholder : text }
        let rest = text[start.upperBound...]
        // A password that should have been encoded may hold an '@' or a '/': the last '@' of all ends it.
        guard let end = rest.lastIndex(of: "@") else { return text }
        let user = rest[..<end].prefix { $0 != ":" }
        let hasPassword = user.endIndex != end
        return text[..<start.upperBound] + user + (hasPassword ? ":\(Secret.placeholder)" : "") + rest[end...]
    }
}
