import Hashing

/// Derives the `apns-id` of a push from its event and its device, so that every attempt, by any worker, bears the same.
///
/// Two pushes share an identifier only by chance (2^-122). Someone who makes collisions on purpose would only confuse
/// that backend's own logs.
public struct PushIdentity: Hashable, Sendable {
    private var digest = WordDigest()

    /// Begins with the event: its source and its identifier.
    public init(source: String, identifier: String) {
        digest.mix(source)
        digest.mix(identifier)
    }

    /// The identifier of the event's push to this device: a UUID of version 8 (RFC 9562 §5.8).
    ///
    /// - Parameters:
    ///   - token: the device's.
    ///   - subscription: the row of the subscription that the push is of; 0 if it is of none.
    /// - Returns: the identifier.
    public func apnsID(for token: DeviceToken, subscription: Int64 = 0) -> APNsIdentifier {
        var state = digest
        token.bytes.withUnsafeBytes { state.mix($0) }
        if subscription != 0 { withUnsafeBytes(of: subscription.littleEndian) { state.mix($0) } }
        state.finish()
        return APNsIdentifier(
            high: state.high & ~0xF000 | 0x8000,
            low: state.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
