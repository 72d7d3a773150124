/// Percent-encodes everything but the unreserved characters (RFC 3986 section 2.3).
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func encode(_ text: String) -> String { encode(text.utf8) }

    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
