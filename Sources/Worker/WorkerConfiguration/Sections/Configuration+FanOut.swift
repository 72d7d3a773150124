import TOML

extension Configuration {
    /// How large audiences are served: `[fanout]`.
    public struct FanOut: Hashable, Sendable {
        /// How many devices an event may reach that is not served in chunks, 250 to 10,000,000.
        public var thresholdDevices: Int
        /// The most devices in one chunk, 250 to 10,000.
        public var chunkDevices: Int
    }
}

extension ConfigurationKey {
    static let fanOutThreshold = ConfigurationKey(
        section: "fanout", name: "threshold_devices", kind: .integer(250...10_000_000), standard: .integer(1_000),
        summary: "Devices above which all workers share an event, in chunks.")
    static let fanOutChunk = ConfigurationKey(
        section: "fanout", name: "chunk_devices", kind: .integer(250...10_000), standard: .integer(2_000),
        summary: "Most devices in one chunk.",
        details: """
            A crash repeats at most one chunk of an app and 500 devices of the next. Bounds the pushes in flight of \
            large fan-outs, and the time of a stop.
            """)

    /// The keys of `[fanout]`.
    static let fanOut = [fanOutThreshold, fanOutChunk]
}

extension ConfigurationReader {
    /// Reads `[fanout]`.
    mutating func readFanOut() -> Configuration.FanOut {
        Configuration.FanOut(thresholdDevices: integer(.fanOutThreshold), chunkDevices: integer(.fanOutChunk))
    }
}
