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

    /// The length of the text, in bytes.
    public static let textLength = 36

    /// Writes the 36 bytes of text, for example `123e4567-e89b-42d3-a456-426614174000`.
    ///
    /// - Parameter buffer: room for at least 36 bytes.
    public func write(to buffer: UnsafeMutableBufferPointer<UInt8>) {
        precondition(buffer.count >= Self.textLength)
        var position = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                buffer[position] = UInt8(ascii: "-")
                position += 1
            }
            let word = index < 16 ? high : low
            let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15
            buffer[position] = nibble < 10 ? 48 + nibble : 87 + nibble
            position += 1
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
