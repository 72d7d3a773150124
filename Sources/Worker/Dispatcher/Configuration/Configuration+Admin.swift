extension Configuration {
    /// The server for health and metrics: `[admin]`.
    public struct Admin: Hashable, Sendable {
        /// Where it listens; nil if there is to be none.
        ///
        /// Port 0 lets the system choose. `admin.listen`, default `127.0.0.1:9464`, `""` for none.
        public var listen: HostPort?
        /// The host names of the server besides those that are always served; `*` for all.
        ///
        /// `admin.hosts`, default none.
        public var hosts: [String]
        /// The operator's page; nil if there is to be none.
        public var page: Page?
    }

    /// The operator's page: `[admin]`, the keys from `page_path` on.
    public struct Page: Hashable, Sendable {
        /// The path below which it is; `admin.page_path`, default `/ui`, `""` for no page.
        public var path: String
        /// The file of users with the hashes of their passwords; nil for none.
        ///
        /// `admin.users_file`.
        public var usersFile: String?
        /// The header in which a proxy names the user; empty for none.
        ///
        /// `admin.user_header`.
        public var userHeader: String
        /// The addresses of the proxies that may do so.
        ///
        /// `admin.trusted_proxies`.
        public var trustedProxies: [String]
        /// Which of the proxy's users may act; all if it is `*`.
        ///
        /// `admin.operators`.
        public var operators: [String]
        /// The origins besides its own from which the page may be used.
        ///
        /// `admin.allowed_origins`.
        public var allowedOrigins: [String]
        /// Whether payloads of dead letters are shown.
        ///
        /// `admin.page_shows_payloads`.
        public var showsPayloads: Bool
    }
}
