import Essentials

/// Brings the text of a service account into the form of JSON, where it is clear what was meant.
enum ServiceAccountText {
    /// The JSON that a text holds.
    ///
    /// - Parameter bytes: JSON, JSON in single quotes, JSON in base64, or JSON whose texts have unescaped line feeds.
    /// - Returns: the JSON; the text itself if it is none of these.
    static func object(in bytes: [UInt8]) -> [UInt8] {
        let text = trimmed(bytes)
        if text.first == UInt8(ascii: "{") { return escapingLineFeeds(text) }
        let digits = text.filter { $0 > 0x20 }
        let decoded = digits.withUnsafeBufferPointer(Base64.decode) ?? []
        return decoded.first == UInt8(ascii: "{") ? decoded : bytes
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        func isMargin(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: "'") }
        let marked = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
        return marked.drop(while: isMargin).reversed().drop(while: isMargin).reversed()
    }

    /// Escapes the ends of lines within texts, which JSON does not allow there (RFC 8259 section 7).
    private static func escapingLineFeeds(_ json: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(json.count + 64)
        var isInText = false
        var isAfterBackslash = false
        for byte in json {
            if isInText, byte == 0x0a || byte == 0x0d {
                escaped += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
                continue
            }
            if byte == UInt8(ascii: "\""), !isAfterBackslash { isInText.toggle() }
            isAfterBackslash = byte == UInt8(ascii: "\\") && !isAfterBackslash
            escaped.append(byte)
        }
        return escaped
    }
}
