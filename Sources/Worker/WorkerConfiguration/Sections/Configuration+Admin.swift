import OperatorPage
import TOML

extension Configuration {
    /// The server for health and metrics: `[admin]`.
    public struct Admin: Hashable, Sendable {
        /// Where it listens; nil if there is to be none.
        ///
        /// Port 0 lets the system choose. `admin.listen`, default `127.0.0.1:9464`, `""` for none.
        public var listen: HostPort?
        /// The host names of the server besides those that are always served; `*` for all.
        public var hosts: [String]
        /// The operator's page; nil if there is to be none.
        public var page: Page?
    }

    /// The operator's page: `[admin]`, the keys from `page_path` on.
    public struct Page: Hashable, Sendable {
        /// The path below which it is; `admin.page_path`, default `/ui`, `""` for no page.
        public var path: String
        /// The file of users with the hashes of their passwords; nil for none.
        public var usersFile: String?
        /// The header in which a proxy names the user; empty for none.
        public var userHeader: String
        /// The addresses of the proxies that may do so.
        public var trustedProxies: [String]
        /// Which of the proxy's users may act; all if it is `*`.
        public var operators: [String]
        /// The origins besides its own from which the page may be used.
        public var allowedOrigins: [String]
        /// Whether payloads of dead letters are shown.
        public var showsPayloads: Bool
    }
}

extension ConfigurationKey {
    static let adminListen = ConfigurationKey(
        section: "admin", name: "listen", kind: .string, standard: .string("127.0.0.1:9464"),
        summary: "Address of /livez, /readyz, /metrics and /version, HOST:PORT.",
        effect: .afterRestart)
    static let adminHosts = ConfigurationKey(
        section: "admin", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Further host names of the admin server, for example for Prometheus.",
        details: """
            localhost, this machine's name and numeric addresses are always served; others get 421. ["*"] serves all.
            """,
        effect: .afterRestart)
    static let adminPagePath = ConfigurationKey(
        section: "admin", name: "page_path", kind: .string, standard: .string("/ui"),
        summary: "Path of the operator's page there; \"\" is no page.",
        details: """
            Without a login (users_file or user_header) for this machine's users only. See deploy/operator-page.md.
            """)
    static let adminUsersFile = ConfigurationKey(
        section: "admin", name: "users_file", kind: .string, standard: .string(""),
        summary: "File of the page's users and their hashed passwords.",
        details: "Written by 'apus page user add', read again within seconds.")
    static let adminUserHeader = ConfigurationKey(
        section: "admin", name: "user_header", kind: .string, standard: .string(""),
        summary: "Header in which a proxy with a login names the page's user.",
        details: "For example X-Forwarded-User. Counts only from trusted_proxies.")
    static let adminTrustedProxies = ConfigurationKey(
        section: "admin", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "Numeric addresses of the proxies whose user_header counts.",
        details: "Wrong passwords count for the last address in their X-Forwarded-For.")
    static let adminOperators = ConfigurationKey(
        section: "admin", name: "operators", kind: .strings, standard: texts([]),
        summary: "Users named by user_header who may act on the page.",
        details: "All others only look. [\"*\"] is everybody. users_file has its own roles.")
    static let adminAllowedOrigins = ConfigurationKey(
        section: "admin", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "Further origins of the page's requests.",
        details: "For example https://ops.example.com. For proxies that change Host, and old browsers.")
    static let adminPageShowsPayloads = ConfigurationKey(
        section: "admin", name: "page_shows_payloads", kind: .boolean, standard: .boolean(false),
        summary: "Whether the page shows the contents of dead letters.",
        details: "Device tokens are never shown.")

    /// The keys of `[admin]`.
    static let admin = [
        adminListen, adminHosts, adminPagePath, adminUsersFile, adminUserHeader, adminTrustedProxies, adminOperators,
        adminAllowedOrigins, adminPageShowsPayloads,
    ]
}

extension ConfigurationReader {
    /// Reads `[admin]`.
    mutating func readAdmin() -> Configuration.Admin {
        let listen = text(.adminListen)
        let address = HostPort(listen)
        if !listen.isEmpty, address == nil {
            fail(
                .adminListen, "\(listen.quoted) is invalid", "write HOST:PORT, or \"\" for no admin server")
        }
        return Configuration.Admin(listen: address, hosts: readHosts(.adminHosts), page: readPage(listen: address))
    }

    /// The paths of the admin server itself.
    private static let ownPaths: Set<String> = ["livez", "readyz", "metrics", "version"]

    /// Reads the operator's page; nil if there is to be none.
    mutating func readPage(listen: HostPort?) -> Configuration.Page? {
        let path = text(.adminPagePath)
        guard !path.isEmpty else { return nil }
        let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let isPath = path.hasPrefix("/") && names.allSatisfy { Self.isName(String($0), allowing: "-_.") }
        if !isPath || Self.ownPaths.contains(String(names.first ?? "")) {
            fail(
                .adminPagePath, "\(path.quoted) is invalid",
                "write a path such as /ui that begins with a slash and does not end with one, or \"\" for no page")
        }
        let page = Configuration.Page(
            path: path, usersFile: readUsersFile(listen: listen), userHeader: readUserHeader(),
            trustedProxies: readTrustedProxies(.adminTrustedProxies), operators: texts(.adminOperators),
            allowedOrigins: readAllowedOrigins(.adminAllowedOrigins), showsPayloads: boolean(.adminPageShowsPayloads))
        if page.allowedOrigins.contains("*") {
            fail(.adminAllowedOrigins, "\"*\" would let every page of the web act", "name the origins one by one")
        }
        if !page.userHeader.isEmpty, page.trustedProxies.isEmpty {
            fail(.adminTrustedProxies, "missing", "set user_header and trusted_proxies together")
        }
        if page.userHeader.isEmpty, page.usersFile == nil, !page.trustedProxies.isEmpty {
            fail(.adminUserHeader, "missing", "set trusted_proxies together with user_header or users_file")
        }
        if page.userHeader.isEmpty, !page.operators.isEmpty {
            fail(.adminOperators, "nobody is named by a header", "set user_header, or give roles in users_file")
        }
        return page
    }

    private mutating func readUsersFile(listen: HostPort?) -> String? {
        guard let path = resolved(text(.adminUsersFile), of: .adminUsersFile) else { return nil }
        if let listen, !listen.isLoopback {
            warn(
                .adminUsersFile, "passwords of the page cross the network in the clear",
                "listen on 127.0.0.1 and put a proxy with TLS in front")
        }
        guard checksFile(of: .adminUsersFile) else { return path }
        do {
            let users = try PageUsers(try ConfigurationFile.read(path))
            if users.entries.isEmpty {
                warn(.adminUsersFile, "\(path) names no user", "run 'apus page user add NAME --role operator'")
            }
        } catch let error as ConfigurationFile.Failure {
            // 'apus page user add' makes the file.
            guard !error.isMissingFile else {
                warn(.adminUsersFile, "there is no file \(path)", "run 'apus page user add NAME --role operator'")
                return path
            }
            fail(.adminUsersFile, reading: path, error)
        } catch {
            fail(.adminUsersFile, "\(path): \(error)", "correct the line, or remove it")
        }
        warnOfReaders(.adminUsersFile, path)
        return path
    }

    private mutating func readUserHeader() -> String {
        let header = text(.adminUserHeader)
        if !header.isEmpty, !Self.isName(header, allowing: "-_", countMaximum: 128) {
            fail(.adminUserHeader, "\(header.quoted) is no name of a header", "write a name such as X-Forwarded-User")
        }
        return header
    }
}
