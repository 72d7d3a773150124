/// A short name of an event, the same in every process: 128 bits of its source and identifier.
public struct EventDigest: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Makes the digest of an event.
    public init(source: String, identifier: String) {
        var digest = WordDigest()
        digest.mix(source)
        digest.mix(identifier)
        digest.finish()
        var bytes: [UInt8] = []
        for word in [digest.high, digest.low] {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        self.bytes = bytes
    }
}
