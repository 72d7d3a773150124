extension Configuration {
    /// How large audiences are served: `[fanout]`.
    public struct FanOut: Hashable, Sendable {
        /// How many devices an event may reach that is not served in chunks, 250 to 10,000,000.
        ///
        /// `fanout.threshold_devices`, default 1000.
        public var thresholdDevices: Int
        /// The most devices in one chunk, 250 to 10,000.
        ///
        /// `fanout.chunk_devices`, default 2000.
        public var chunkDevices: Int
    }
}
