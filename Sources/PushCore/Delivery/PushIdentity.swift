/// Derives the `apns-id` of a push from its event and its device, so that every attempt, by any worker, bears the same.
///
/// The hash is a multiply-and-fold over 64-bit words in two lanes: fast, the same on every machine, and spread well
/// enough that two pushes share an identifier only by chance (2^-122). It is no protection against someone who makes
/// collisions on purpose, which would only confuse that backend's own logs.
public struct PushIdentity: Hashable, Sendable {
    private var high: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var low: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    /// Begins with the event: its source and its identifier.
    public init(source: String, identifier: String) {
        mix(text: source)
        mix(text: identifier)
    }

    /// The identifier of the event's push to this device: a UUID of version 8 (RFC 9562 §5.8).
    public func apnsID(for token: DeviceToken) -> APNsIdentifier {
        var state = self
        token.bytes.withUnsafeBytes { state.mix($0) }
        // Two more rounds carry the last word into every bit of both halves.
        state.mix(word: 0xD6E8_FEB8_6659_FD93)
        state.mix(word: 0xA076_1D64_78BD_642F)
        return APNsIdentifier(
            high: state.high & ~0xF000 | 0x8000,
            low: state.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    private mutating func mix(text: String) {
        var text = text
        text.withUTF8 { mix(UnsafeRawBufferPointer($0)) }
    }

    private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        mix(word: rest)
        // The length keeps "ab" + "c" apart from "a" + "bc".
        mix(word: UInt64(bytes.count))
    }

    private mutating func mix(word: UInt64) {
        let first = (high ^ word).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        let second = (low ^ word).multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
        high = first.high ^ first.low &+ second.high
        low = second.high ^ second.low &+ first.high
    }
}
