import Synchronization

/// A hash of 128 bits, the same on every machine: a multiply-and-fold over 64-bit words in two lanes.
///
/// Fast (a few nanoseconds for each eight bytes) and spread well enough that two inputs share a digest only by chance.
/// It is no protection against someone who makes collisions on purpose, unless its seed is secret.
public struct WordDigest: Hashable, BitwiseCopyable, Sendable {
    /// A seed that differs from process to process, unless the process is one to be replayed (`fixSecretSeed`).
    public static let secretSeed = fixedSeed.withLock { seed in
        seed.isUsed = true
        return seed.value ?? .random(in: .min ... .max)
    }

    private static let fixedSeed = Mutex<(value: UInt64?, isUsed: Bool)>((nil, false))

    /// Gives the secret seed a value that is no secret, so that a run can be replayed in another process.
    ///
    /// To be called before anything is hashed; never by a process that serves anybody.
    public static func fixSecretSeed(_ seed: UInt64) {
        fixedSeed.withLock { fixed in
            precondition(!fixed.isUsed, "the secret seed is fixed before anything is hashed")
            fixed.value = seed
        }
    }

    /// The first half.
    public var high: UInt64
    /// The second half.
    public var low: UInt64

    /// Begins a digest.
    @inlinable
    public init(seed: UInt64 = 0) {
        high = 0x9E37_79B9_7F4A_7C15 ^ seed
        low = 0xC2B2_AE3D_27D4_EB4F ^ seed
    }

    /// A digest with these halves, as it was kept.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Adds a text; its length counts too, so that "ab" and "c" differ from "a" and "bc".
    @inlinable
    public mutating func mix(_ text: String) {
        var text = text
        text.withUTF8 { mix(UnsafeRawBufferPointer($0)) }
    }

    /// Adds bytes, and their count.
    @inlinable
    public mutating func mix(_ bytes: UnsafeRawBufferPointer) {
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
        mix(word: UInt64(bytes.count))
    }

    /// Carries the last words into every bit of both halves; nothing may be added after this.
    @inlinable
    public mutating func finish() {
        mix(word: 0xD6E8_FEB8_6659_FD93)
        mix(word: 0xA076_1D64_78BD_642F)
    }

    /// Adds a word.
    @inlinable
    public mutating func mix(word: UInt64) {
        let first = (high ^ word).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        let second = (low ^ word).multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
        high = first.high ^ first.low &+ second.high
        low = second.high ^ second.low &+ first.high
    }
}
