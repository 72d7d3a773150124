import Essentials
import EventLoop
import HTTPServer
import StructuredLogging
import Synchronization

/// Finds out who sent a request.
///
/// In this order: the header of a trusted proxy, name and password, and, if neither is configured, whether the request
/// comes from this machine. A password is verified on another thread, and a verified one is known for some minutes.
final class PageLogin: Sendable {
    /// The immediate finding about the sender of a request.
    enum Finding: Sendable {
        case user(PageUser)
        case refused(PageProblem)
        /// The password has to be verified, which takes a while.
        case toVerify(Credentials)
    }

    /// A name and a password as a request shows them.
    struct Credentials: Sendable {
        let name: String
        let password: [UInt8]
        let address: String
        let share: String
    }

    private static let challenge = [HTTPField("WWW-Authenticate", "Basic realm=\"Apus\", charset=\"UTF-8\"")]
    private static let forwardingFields: Set<String> = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]
    private static let passwordBytesMaximum = 1_024

    private let configuration: OperatorPageConfiguration
    private let proxies: TrustedProxies
    private let verifier: PasswordVerifier?

    init(_ configuration: OperatorPageConfiguration, loop: EventLoop, logger: Logger) {
        self.configuration = configuration
        proxies = TrustedProxies(configuration.trustedProxies)
        verifier = configuration.readUsers.map { readUsers in
            PasswordVerifier(
                readUsers: readUsers, nowNanoseconds: configuration.nowNanoseconds, loop: loop, logger: logger)
        }
    }

    /// Finds out what is known at once.
    func find(_ request: HTTPRequest) -> Finding {
        if let finding = proxyUser(request) { return finding }
        if let verifier { return basicUser(request, verifier) }
        guard configuration.userHeader.isEmpty else {
            return .refused(
                PageProblem(
                    .off,
                    "The page is for users whom the proxy names in \(configuration.userHeader): open it through "
                        + "the proxy. Proxies are named in admin.trusted_proxies."))
        }
        return localUser(request)
    }

    /// Verifies a password on the loop of the logins, which then gets the user or the problem.
    func verify(_ credentials: Credentials, found: @escaping @Sendable (Result<PageUser, PageProblem>) -> Void) {
        guard let verifier else { return found(.failure(Self.missing)) }
        verifier.verify(credentials) { result in
            found(
                result.map { entry in
                    PageUser(name: entry.name, role: entry.role, login: .basic, address: credentials.address)
                })
        }
    }

    /// The refusal of a request that shows no valid name and password.
    static let missing = PageProblem(
        .login, "A name and a password are needed. 'apus page user add' adds a user.", fields: challenge)

    // MARK: Ways to log in

    private func proxyUser(_ request: HTTPRequest) -> Finding? {
        guard !configuration.userHeader.isEmpty, proxies.sent(request) else { return nil }
        let address = proxies.client(of: request).address
        guard let name = request.field(configuration.userHeader.lowercased()), PageUser.isName(name) else {
            guard verifier == nil else { return nil }
            return .refused(
                PageProblem(
                    .login,
                    "The proxy named no user in \(configuration.userHeader), or a name with blanks or more than "
                        + "\(PageUser.nameBytesMaximum) characters."))
        }
        let isOperator = configuration.operators.contains { $0 == "*" || $0.utf8.elementsEqual(name.utf8) }
        return .user(PageUser(name: name, role: isOperator ? .operator : .viewer, login: .proxy, address: address))
    }

    private func basicUser(_ request: HTTPRequest, _ verifier: PasswordVerifier) -> Finding {
        let scheme = "basic "
        guard let field = request.field("authorization"), field.prefix(scheme.count).lowercased() == scheme,
            let bytes = Base64.decodeStrictly(String(field.dropFirst(scheme.count).drop { $0 == " " })),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let name = String(validating: bytes[..<colon], as: UTF8.self), PageUser.isName(name)
        else { return .refused(Self.missing) }
        let password = Array(bytes[(colon + 1)...].prefix(Self.passwordBytesMaximum + 1))
        guard password.count <= Self.passwordBytesMaximum else { return .refused(Self.missing) }
        let (address, share) = proxies.client(of: request)
        let credentials = Credentials(name: name, password: password, address: address, share: share)
        guard let entry = verifier.known(credentials) else { return .toVerify(credentials) }
        return .user(PageUser(name: entry.name, role: entry.role, login: .basic, address: address))
    }

    /// Without a login only this machine's own users are served, and none for whom a proxy stands.
    private func localUser(_ request: HTTPRequest) -> Finding {
        guard !configuration.servesAllHosts else {
            return .refused(
                PageProblem(
                    .off,
                    "The page needs a login where the admin server answers for every host, because the pages of other "
                        + "sites could use it: name the hosts in admin.hosts, or set admin.users_file."))
        }
        let isForwarded = request.fields.contains { Self.forwardingFields.contains($0.name) }
        guard !isForwarded, Self.isLoopback(request.clientAddress) else {
            return .refused(
                PageProblem(
                    .off,
                    "The page is off beyond this machine until there is a login: set admin.users_file, or "
                        + "admin.user_header with admin.trusted_proxies. deploy/operator-page.md shows both."))
        }
        return .user(PageUser(name: "local", role: .operator, login: .none, address: request.clientAddress))
    }

    private static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }
}
