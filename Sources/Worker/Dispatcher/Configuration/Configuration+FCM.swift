extension Configuration {
    /// An app's way to FCM: `[app.fcm]`.
    public struct FCM: Hashable, Sendable {
        /// The JSON file of the service account that may send.
        ///
        /// `app.N.fcm.service_account_file`, required for pushes to FCM.
        public var serviceAccountFile: String
        /// The Firebase project whose apps get the messages.
        ///
        /// `app.N.fcm.project_id`, default `""` for that of the service account.
        public var projectID: String
        /// Where messages are sent to, or nil for Google's host.
        ///
        /// `app.N.fcm.endpoint`, default `""` for nil.
        public var endpoint: HostPort?
        /// Where access tokens are fetched, or nil for what the service account says.
        ///
        /// `app.N.fcm.token_url`, default `""` for nil.
        public var tokenURL: String?
        /// The URL of the HTTP proxy to go through, or nil.
        ///
        /// `app.N.fcm.proxy`, secret, default `""` for none.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        ///
        /// `app.N.fcm.ca_file`, default `""` for none.
        public var caFile: String?
        /// How many connections a worker keeps, 1 to 64.
        ///
        /// `app.N.fcm.connections`, default 2.
        public var connections: Int
        /// How many connections a worker opens under pressure, 1 to 64.
        ///
        /// `app.N.fcm.connections_max`, default 16; less than `connections` means `connections`.
        public var connectionsMaximum: Int
        /// How many messages a worker sends in a minute, 60 to 100,000,000.
        ///
        /// `app.N.fcm.messages_per_minute`, default 600,000, Google's quota of a project.
        public var messagesPerMinute: Int
    }
}
