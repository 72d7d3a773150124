extension Configuration {
    /// An app's way to Amazon Device Messaging: `[app.adm]`.
    public struct ADM: Hashable, Sendable {
        /// The client identifier of the app's security profile.
        ///
        /// `app.N.adm.client_id`, required for pushes to ADM.
        public var clientID: String
        /// The client secret.
        ///
        /// `app.N.adm.client_secret`, secret, required for pushes to ADM.
        public var clientSecret: Secret
        /// Where messages are sent to, or nil for Amazon's host.
        ///
        /// `app.N.adm.endpoint`, default `""` for nil.
        public var endpoint: HostPort?
        /// Where access tokens are fetched, or nil for Amazon's address.
        ///
        /// `app.N.adm.token_url`, default `""` for nil.
        public var tokenURL: String?
        /// The URL of the HTTP proxy to go through, or nil.
        ///
        /// `app.N.adm.proxy`, secret, default `""` for none.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        ///
        /// `app.N.adm.ca_file`, default `""` for none.
        public var caFile: String?
    }
}
