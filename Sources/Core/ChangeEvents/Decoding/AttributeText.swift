import Essentials
internal import JSON
import Notifications

/// The texts that attributes of a CloudEvent may have.
///
/// Forbidden are control characters (U+0000 to U+001F, U+007F to U+009F), noncharacters, and halves of surrogate pairs,
/// which UTF-8 cannot have (CloudEvents 1.0.2 section 3.1, "Type System", String). Such a text would not survive a
/// header, a log or another binding.
enum AttributeText {
    /// The rule, as the end of "it must be".
    static let expected = "a text without control characters and noncharacters, as CloudEvents demands of attributes"

    /// Whether the bytes, which are UTF-8, are such a text.
    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var seen: UInt8 = 0
        for byte in bytes {
            if byte < 0x20 || byte == 0x7f { return false }
            seen |= byte
        }
        return seen < 0x80 || isValidBeyondASCII(bytes)
    }

    private static func isValidBeyondASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x7f...0x9f, 0xfdd0...0xfdef: false
            // The last two code points of each plane.
            default: scalar.value & 0xfffe != 0xfffe
            }
        }
    }

    /// Whether no text of a document in JSON can be wrong: it is ASCII, and without the escapes that forbidden
    /// characters need there.
    ///
    /// It is on the way of every event, so it looks at eight bytes at a time.
    static func isPlain(_ document: [UInt8]) -> Bool {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let backslashes = ones &* UInt64(UInt8(ascii: "\\"))
        return document.withUnsafeBytes { bytes in
            var others: UInt64 = 0
            let words = bytes.count / 8
            for word in 0..<words {
                let word = bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)
                let differences = word ^ backslashes
                // From 0x7f on the top bit of the byte or of the next number is set; a difference of 0 borrows it.
                others |= word | (word &+ ones) | ((differences &- ones) & ~differences)
            }
            guard others & tops == 0 else { return false }
            return bytes[(8 * words)...].allSatisfy { $0 < 0x7f && $0 != UInt8(ascii: "\\") }
        }
    }

    /// Refuses an event one of whose attributes is a text that it may not have.
    ///
    /// - Parameter event: the event in structured mode.
    /// - Throws: `EventRejection` with the name of the attribute.
    static func check(_ event: JSONObject) throws(EventRejection) {
        for member in event {
            guard member.value.withUTF8(isValid) == false, !member.isNamed("data"), !member.isNamed("data_base64")
            else { continue }
            throw invalid("event.\(member.key.excerpt)", member.value.string ?? "")
        }
    }

    /// The refusal of a text.
    static func invalid(_ path: String, _ text: String) -> EventRejection {
        FieldReader.invalid(path, found: text.excerpt, expected)
    }
}
