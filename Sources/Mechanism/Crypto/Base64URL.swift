/// Base64 with the alphabet for addresses and file names, without padding (RFC 4648 section 5), as tokens use it.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes bytes as text of ceil(count * 4 / 3) characters.
    public static func encode(_ bytes: [UInt8]) -> String {
        let length = (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: length) { text in
            var written = 0
            var index = 0
            while index < bytes.count {
                let taken = min(3, bytes.count - index)
                var group: UInt32 = 0
                for position in 0..<3 {
                    group = group << 8 | (position < taken ? UInt32(bytes[index + position]) : 0)
                }
                for position in 0...taken {
                    text[written] = alphabet[Int(group >> (18 - 6 * UInt32(position))) & 0x3F]
                    written += 1
                }
                index += taken
            }
            return written
        }
    }

    /// Decodes text, or answers nothing if it is not what `encode` writes for any bytes.
    ///
    /// Padding, white space, foreign characters and unused bits that are set are all refused, so that no two texts mean
    /// the same bytes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        guard bitCount < 6, bits == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
