import Crypto

/// Base64 with the standard alphabet and padding (RFC 4648 section 4), which Apple's clients write.
enum StandardBase64 {
    /// The text of bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    /// The bytes of a text; nil if it is none, or has the alphabet for addresses or too little padding.
    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0, !text.utf8.contains(where: { $0 == 0x2D || $0 == 0x5F }) else { return nil }
        let padding = text.utf8.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        let digits = text.dropLast(padding).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        return Base64URL.decode(String(digits))
    }
}
