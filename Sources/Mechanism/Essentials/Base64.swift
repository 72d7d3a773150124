/// Base64 with the standard alphabet (RFC 4648 section 4), the form of CloudEvents' `data_base64`.
public enum Base64 {
    private static let coding = Base64Coding(lastDigits: "+/")

    /// The text of bytes, with padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = coding.encode(bytes)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes, or nil if the text is not base64; padding may be left out.
    public static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        coding.decode(text.dropLast(paddingCount(text)))?.bytes
    }

    /// The bytes, or nil if the text is not what `encode` writes for any bytes.
    public static func decodeStrictly(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0,
            let (bytes, isCanonical) = coding.decode(text.utf8.dropLast(paddingCount(text.utf8)))
        else { return nil }
        return isCanonical ? bytes : nil
    }

    private static func paddingCount(_ text: some BidirectionalCollection<UInt8>) -> Int {
        guard text.count % 4 == 0 else { return 0 }
        return text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    }
}

/// Base64 with the alphabet for addresses and file names, without padding (RFC 4648 section 5), as tokens use it.
public enum Base64URL {
    private static let coding = Base64Coding(lastDigits: "-_")

    /// Encodes bytes as text of ceil(count * 4 / 3) characters.
    public static func encode(_ bytes: [UInt8]) -> String { String(decoding: coding.encode(bytes), as: UTF8.self) }

    /// Decodes text, or answers nothing if it is not what `encode` writes for any bytes.
    ///
    /// Padding, white space, foreign characters and unused bits that are set are all refused, so that no two texts mean
    /// the same bytes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard let (bytes, isCanonical) = coding.decode(text.utf8) else { return nil }
        return isCanonical ? bytes : nil
    }
}

/// Groups of six bits as digits of one alphabet, without padding.
private struct Base64Coding {
    private let digits: [UInt8]

    /// Creates the coding with an alphabet.
    ///
    /// - Parameter lastDigits: the digits for 62 and 63.
    init(lastDigits: String) {
        digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastDigits)".utf8)
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(bits >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(bits << (6 - bitCount) & 63)]) }
        return text
    }

    /// The bytes of digits, and whether they are the digits that `encode` writes; nil if there is no such text.
    func decode(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], isCanonical: Bool)? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in text {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            bits &= (1 << bitCount) - 1
        }
        return bitCount < 6 ? (bytes, bits == 0) : nil
    }

    private func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) + 4
        case digits[62]: 62
        case digits[63]: 63
        default: nil
        }
    }
}
