extension HTTP2Connection {
    /// The limits of one connection.
    public struct Configuration: Sendable, Hashable {
        /// Bytes of one body that the peer may send before we have read them (`SETTINGS_INITIAL_WINDOW_SIZE`).
        public var initialStreamWindowBytes: UInt32 = 1 << 20
        /// Bytes of all bodies together that the peer may send before we have read them.
        public var connectionWindowBytes: UInt32 = 16 << 20
        /// Whether windows are opened again as bytes arrive; if not, the owner opens that of the connection by
        /// `openConnectionWindow`, as a slow or broken server would.
        public var opensWindows = true
        /// Streams that the peer may have open at a time (`SETTINGS_MAX_CONCURRENT_STREAMS`).
        public var maxConcurrentStreams: UInt32 = 1_000
        /// Size of the table with which the peer compresses header fields (`SETTINGS_HEADER_TABLE_SIZE`), in bytes.
        public var headerTableBytes: UInt32 = 4_096
        /// The longest header list that the peer should send (`SETTINGS_MAX_HEADER_LIST_SIZE`), in bytes.
        public var maxHeaderListBytes: UInt32 = 64 << 10
        /// Requests that may be submitted and not yet ended, whatever the peer allows; bounds what a user can queue.
        public var openStreamsMaximum = 65_536
        /// Time from `start` until the peer's first SETTINGS must have arrived, in seconds.
        public var handshakeTimeoutSeconds = 10.0

        /// The defaults, which suit many small requests.
        public init() {}
    }
}
