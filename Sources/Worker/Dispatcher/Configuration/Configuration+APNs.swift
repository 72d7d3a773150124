extension Configuration {
    /// An app's way to APNs: `[app.apns]`.
    public struct APNs: Hashable, Sendable {
        /// The PEM file with the signing key from Apple's developer account (`AuthKey_….p8`).
        ///
        /// `app.N.apns.key_file`, required.
        public var keyFile: String
        /// The key's identifier: ten capital letters and digits.
        ///
        /// `app.N.apns.key_id`, required.
        public var keyID: String
        /// The identifier of the team that the key belongs to: ten capital letters and digits.
        ///
        /// `app.N.apns.team_id`, required.
        public var teamID: String
        /// The server for devices of both environments, or nil for Apple's host of each device's environment.
        ///
        /// `app.N.apns.endpoint`, default `""` for nil.
        public var endpoint: HostPort?
        /// The port of Apple's servers, where `endpoint` names no other: 443 or 2197.
        ///
        /// `app.N.apns.port`, default 443.
        public var port: UInt16
        /// The URL of the HTTP proxy to go through, or nil.
        ///
        /// `app.N.apns.proxy`, secret, default `""` for none.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        ///
        /// `app.N.apns.ca_file`, default `""` for none.
        public var caFile: String?
        /// How many connections a worker keeps to each environment, 1 to 64.
        ///
        /// `app.N.apns.connections`, default 2.
        public var connections: Int
        /// How many connections a worker opens to each environment under pressure, 1 to 64.
        ///
        /// `app.N.apns.connections_max`, default 16; less than `connections` means `connections`.
        public var connectionsMaximum: Int
    }
}
