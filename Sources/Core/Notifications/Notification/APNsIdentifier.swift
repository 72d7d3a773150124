import Essentials
public import Hashing

/// The header `apns-id`: 128 bits, written as a lowercase canonical UUID.
public struct APNsIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public var high: UInt64
    /// The last 64 bits.
    public var low: UInt64

    /// Creates an identifier from its bits.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a UUID of version 8 (RFC 9562 §5.8) from a digest, which is the same in every process.
    ///
    /// - Parameter digest: a finished digest.
    public init(digest: WordDigest) {
        self.init(
            high: digest.high & ~0xF000 | 0x8000,
            low: digest.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }

    /// The length of the text, in bytes.
    public static let textLength = 36

    /// Writes the 36 bytes of text, for example `123e4567-e89b-42d3-a456-426614174000`.
    ///
    /// - Parameter buffer: room for at least 36 bytes.
    public func write(to buffer: UnsafeMutableBufferPointer<UInt8>) {
        precondition(buffer.count >= Self.textLength)
        let text = UnsafeMutableRawBufferPointer(buffer)
        let first = HexadecimalDigits.digits(of: UInt32(truncatingIfNeeded: high >> 32))
        let second = HexadecimalDigits.digits(of: UInt32(truncatingIfNeeded: high))
        let third = HexadecimalDigits.digits(of: UInt32(truncatingIfNeeded: low >> 32))
        let fourth = HexadecimalDigits.digits(of: UInt32(truncatingIfNeeded: low))
        // The groups have 8, 4, 4, 4 and 12 digits, so the middle words are stored in halves.
        text.storeBytes(of: first, toByteOffset: 0, as: UInt64.self)
        store(second, to: text, at: 9, 14)
        store(third, to: text, at: 19, 24)
        text.storeBytes(of: fourth, toByteOffset: 28, as: UInt64.self)
        buffer[8] = UInt8(ascii: "-")
        buffer[13] = UInt8(ascii: "-")
        buffer[18] = UInt8(ascii: "-")
        buffer[23] = UInt8(ascii: "-")
    }

    /// Stores eight digits as two groups of four.
    private func store(_ digits: UInt64, to text: UnsafeMutableRawBufferPointer, at first: Int, _ second: Int) {
        withUnsafeBytes(of: digits) { digits in
            text.storeBytes(of: digits.load(as: UInt32.self), toByteOffset: first, as: UInt32.self)
            text.storeBytes(of: digits.load(fromByteOffset: 4, as: UInt32.self), toByteOffset: second, as: UInt32.self)
        }
    }

    /// The text.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { buffer in
            write(to: buffer)
            return Self.textLength
        }
    }
}
