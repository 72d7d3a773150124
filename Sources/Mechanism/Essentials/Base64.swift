/// Base64 with the standard alphabet (RFC 4648 section 4), the form of CloudEvents' `data_base64`.
public enum Base64 {
    /// The bytes, or nil if the text is not base64; padding may be left out.
    public static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var digits = text[...]
        while digits.count > 0, text.count % 4 == 0, digits.last == UInt8(ascii: "="), text.count - digits.count < 2 {
            digits.removeLast()
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for digit in digits {
            guard let value = value(ofDigit: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
        return bytes
    }

    /// The text of bytes, with padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let isPadding = place > group.count
                text.append(isPadding ? UInt8(ascii: "=") : digits[Int(bits >> UInt32(18 - 6 * place) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
