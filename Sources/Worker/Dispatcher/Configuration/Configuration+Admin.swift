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
    }
}
