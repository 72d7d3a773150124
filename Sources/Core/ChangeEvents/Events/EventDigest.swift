import Hashing
import Notifications

/// A short name of an event, the same in every process: 128 bits of its source and identifier.
public struct EventDigest: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]
    /// The first eight bytes, by which the registry remembers the event for a device's badge.
    public var shortBytes: [UInt8] { Array(bytes.prefix(Self.shortBytesCount)) }
    /// How many bytes `shortBytes` has.
    public static let shortBytesCount = 8
    /// The same as a UUID of version 8 (RFC 9562 §5.8).
    public let uuid: String

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
        uuid = APNsIdentifier(digest: digest).description
    }
}
