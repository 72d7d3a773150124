/// Base64 with its standard alphabet, for identifiers whose size is a multiple of three bytes (RFC 4648, section 4).
enum Base64Text {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count % 3 == 0, "without padding")
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let word = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            for shift in [18, 12, 6, 0] { text.append(alphabet[word >> shift & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
