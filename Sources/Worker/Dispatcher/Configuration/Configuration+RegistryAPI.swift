public import PushCore

extension Configuration {
    /// How the registry is served over HTTP: the rest of `[registry]`.
    public struct RegistryAPI: Hashable, Sendable {
        /// A key that requests are signed with.
        public struct AccessKey: Hashable, Sendable {
            /// The public part, which each request bears.
            public var identifier: String
            /// The secret part, which only the client and this configuration know.
            public var secret: Secret
            /// The only identity pools that it may be used for; empty for all.
            public var identityPools: [String]
        }

        /// The public half of a key that a server signs its requests with.
        public struct ServerKey: Hashable, Sendable {
            /// The public part, which each request bears.
            public var identifier: String
            /// The app whose container it opens.
            public var app: String
            /// The permission of the key.
            public var permission: APIToken.Permission
            /// A PEM file with the public key.
            public var publicKeyFile: String
            /// The user on whose behalf its requests are.
            public var userID: String
        }

        /// The default address of `apus registry`.
        public static let standardListen = HostPort(host: "127.0.0.1", port: 8_080)

        /// Where it listens; nil if `apus run` is not to serve it.
        ///
        /// Port 0 lets the system choose. `registry.listen`, default `""` for nil.
        public var listen: HostPort?
        /// A PEM file with the certificate chain, or nil for plain HTTP.
        ///
        /// `registry.certificate_file`, default `""` for none.
        public var certificateFile: String?
        /// A PEM file with the key of the certificate; nil exactly if there is no certificate.
        ///
        /// `registry.key_file`, default `""` for none.
        public var keyFile: String?
        /// Whether other machines may reach it without TLS.
        ///
        /// `registry.insecure`, default false.
        public var isInsecure: Bool
        /// The keys of both sources; identifiers are distinct.
        ///
        /// `registry.access_keys`, secret, and the lines of `registry.access_keys_file`; default none.
        public var accessKeys: [AccessKey]
        /// The keys of servers that use CloudKit Web Services; identifiers are distinct.
        ///
        /// `registry.server_keys`, default none.
        public var serverKeys: [ServerKey]
        /// The origins whose pages may use CloudKit Web Services, in lower case; `*` for every one.
        ///
        /// `registry.allowed_origins`, default none.
        public var allowedOrigins: [String]
        /// How many requests each credential may make in a second, 1 to 100000.
        ///
        /// `registry.requests_per_second`, default 100.
        public var requestsPerSecondMaximum: Int
        /// The URL by which clients reach it, without a slash at the end; nil for the address that
        /// it listens on, if only this machine reaches that.
        ///
        /// `registry.public_url`, default `""` for nil.
        public var publicURL: String?
        /// The host names of the API besides those that are always served; `*` for all.
        ///
        /// `registry.hosts`, default none.
        public var hosts: [String]
        /// How many connections an address may have; 0 for no limit.
        ///
        /// `registry.connections_per_address`, default 256.
        public var connectionsPerAddressMaximum: Int
        /// The proxies in front of it, addresses in numbers.
        ///
        /// `registry.trusted_proxies`, default none.
        public var trustedProxies: [String]
        /// How much clients may keep.
        ///
        /// `[registry.quotas]`; the defaults are those of `RegistryQuota`, 0 is no limit.
        public var quotas: RegistryQuotas
    }
}
