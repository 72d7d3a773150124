/// Reads and writes hexadecimal digits, as device tokens and identifiers have them.
///
/// They are written eight at a time, without a branch: identifiers and tokens are written for every push.
public enum HexadecimalDigits {
    /// The value of a digit of either case, or nil for any other byte.
    @inlinable
    public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }

    /// The value of a digit, which must be lowercase, or nil.
    @inlinable
    public static func value(ofLowercase digit: UInt8) -> UInt8? {
        (65...70).contains(digit) ? nil : value(of: digit)
    }

    /// The eight lowercase digits of a word, as the bytes of text from the lowest address on.
    ///
    /// - Parameter word: the highest four bits become the first digit.
    /// - Returns: the text as it stands in memory.
    public static func digits(of word: UInt32) -> UInt64 {
        // Each digit's four bits move into a byte of their own.
        var spread = UInt64(word)
        spread = (spread & 0xffff_0000) << 16 | spread & 0xffff
        spread = (spread & 0x0000_ff00_0000_ff00) << 8 | spread & 0x0000_00ff_0000_00ff
        spread = (spread & 0x00f0_00f0_00f0_00f0) << 4 | spread & 0x000f_000f_000f_000f
        // 1 in each byte that is 10 or more, where the letters begin: 39 places behind the digits.
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ letters &* 39).bigEndian
    }

    /// Writes the digits of bytes.
    ///
    /// - Parameters:
    ///   - bytes: the bytes to write.
    ///   - buffer: room for two digits for each byte.
    public static func write(_ bytes: UnsafeBufferPointer<UInt8>, to buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= 2 * bytes.count, "there must be room for every digit")
        var index = 0
        let source = UnsafeRawBufferPointer(bytes)
        while index + 4 <= bytes.count {
            let word = UInt32(bigEndian: source.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            buffer.storeBytes(of: digits(of: word), toByteOffset: 2 * index, as: UInt64.self)
            index += 4
        }
        while index < bytes.count {
            let pair = digits(of: UInt32(bytes[index]) << 24)
            buffer.storeBytes(
                of: UInt16(truncatingIfNeeded: UInt64(littleEndian: pair)).littleEndian,
                toByteOffset: 2 * index, as: UInt16.self)
            index += 1
        }
    }
}

extension HexadecimalDigits {
    /// The lowercase digits of bytes.
    public static func text(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            bytes.withUnsafeBufferPointer { write($0, to: UnsafeMutableRawBufferPointer(buffer)) }
            return 2 * bytes.count
        }
    }

    /// The bytes whose digits, of either case, a text is; nil if it is anything else.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { value(of: $0) }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
