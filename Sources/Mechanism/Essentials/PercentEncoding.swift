/// Percent-encoding of the parts of addresses and forms (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Encodes every byte but the unreserved characters (section 2.3).
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - keepsSlashes: whether slashes stay as they are, too.
    /// - Returns: the text, with `%XX` for the others.
    public static func encode(_ text: String, keepsSlashes: Bool = false) -> String {
        encode(text.utf8, keepsSlashes: keepsSlashes)
    }

    /// Encodes bytes, as the other form does with a text's UTF-8.
    public static func encode(_ bytes: some Collection<UInt8>, keepsSlashes: Bool = false) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            case UInt8(ascii: "/") where keepsSlashes: encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes a text.
    ///
    /// - Returns: the text; nil if two hexadecimal digits do not follow a `%`, or if the bytes are not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        bytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes a text, whatever its bytes are.
    ///
    /// - Returns: the bytes; nil if two hexadecimal digits do not follow a `%`.
    public static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(HexadecimalDigits.value(of:)),
                let low = rest.next().flatMap(HexadecimalDigits.value(of:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }
}
