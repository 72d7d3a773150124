extension Configuration {
    /// An app's way to browsers: `[app.webpush]`.
    public struct AppWebPush: Hashable, Sendable {
        /// The file with the VAPID key: PEM, or the scalar in base64url as the tools of Web Push write it.
        ///
        /// `app.N.webpush.key_file`, required for pushes to browsers.
        public var keyFile: String
        /// How a push service reaches whoever runs this: a `mailto:` or `https:` URI.
        ///
        /// `app.N.webpush.subject`, required for pushes to browsers.
        public var subject: String
    }

    /// What pushes to browsers share: `[webpush]`.
    public struct WebPush: Hashable, Sendable {
        /// How many threads encrypt, 1 to 64.
        ///
        /// `webpush.encryption_threads`, default 1.
        public var encryptionThreads: Int
        /// Further hosts of push services with the full number of connections, beside those of the large browsers; one
        /// that begins with a dot is a suffix.
        ///
        /// `webpush.known_hosts`, default none.
        public var knownHosts: [String]
        /// Whether subscriptions of other hosts are refused.
        ///
        /// `webpush.only_known_hosts`, default false.
        public var onlyKnownHosts: Bool
        /// Hosts whose addresses and ports are not checked: a simulator, or a push service in the own network; one with
        /// a port is trusted at that port alone.
        ///
        /// `webpush.trusted_hosts`, default none.
        public var trustedHosts: [String]
        /// The URL of the HTTP proxy to go through, or nil.
        ///
        /// `webpush.proxy`, secret, default `""` for none.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        ///
        /// `webpush.ca_file`, default `""` for none.
        public var caFile: String?
    }
}
