import Essentials
internal import Geography
internal import JSON
import Predicates

/// A text of a notification in which `{field}` stands for the value of a field of the record.
enum NotificationText {
    /// The characters to which CloudKit may cut the values of fields (`desiredKeys`, `alertLocalizationArgs`).
    static let valueCharactersMaximum = 100
    /// How many bytes of a value, or of a whole text, are looked at: no payload takes as many.
    private static let bytesMaximum = 8_192
    /// How many bytes a shortened text may take for each character that it may have; a character has no limit itself.
    private static let bytesPerCharacterMaximum = 4

    /// The text with the values put in; `{{` and `}}` are braces, and a field that the record lacks is nothing.
    ///
    /// A brace that is not closed is taken as it stands: a text that was saved must not stop a push.
    static func filled(_ text: String, with fields: RecordFields) -> String {
        text.readingUTF8 { bytes in
            guard bytes.contains(where: isBrace) else { return text }
            var result = ""
            var rest = bytes[...]
            while result.utf8.count <= bytesMaximum, let brace = rest.firstIndex(where: isBrace) {
                result += String(decoding: rest[..<brace], as: UTF8.self)
                let after = rest[(brace + 1)...]
                if after.first == bytes[brace] {
                    result += bytes[brace] == open ? "{" : "}"
                    rest = after.dropFirst()
                } else if bytes[brace] == open, let end = after.firstIndex(of: close) {
                    let path = String(decoding: after[..<end], as: UTF8.self)
                    result += fields[path].map { beginning(of: value(of: $0), charactersMaximum: bytesMaximum) } ?? ""
                    rest = after[(end + 1)...]
                } else {
                    result += bytes[brace] == open ? "{" : "}"
                    rest = after
                }
            }
            return result + String(decoding: rest, as: UTF8.self)
        }
    }

    private static let open = UInt8(ascii: "{")
    private static let close = UInt8(ascii: "}")

    /// Whether a byte begins or ends the name of a field.
    static func isBrace(_ byte: UInt8) -> Bool { byte == open || byte == close }

    private static func beginning(of text: String, charactersMaximum: Int) -> String {
        // A text has at most as many characters as bytes, and those are counted already.
        text.utf8.count <= charactersMaximum ? text : String(text.prefix(charactersMaximum))
    }

    /// The beginning of a text, with an ellipsis in place of the rest.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - charactersMaximum: the most characters. It has also less than four bytes for each of them as JSON, because a
    ///     character can be made of any number of bytes, and a control character takes six.
    /// - Returns: the text, or its beginning.
    static func shortened(_ text: String, charactersMaximum: Int) -> String {
        let bytesMaximum = charactersMaximum * bytesPerCharacterMaximum - 1
        // The next character tells whether there are more.
        let beginning = text.prefix(charactersMaximum + 1)
        if beginning.count <= charactersMaximum, JSONWriter.bytes(of: beginning) <= bytesMaximum { return text }
        let ellipsis = "…"
        var left = bytesMaximum - ellipsis.utf8.count
        let kept = beginning.prefix(charactersMaximum - 1).prefix { character in
            left -= JSONWriter.bytes(of: String(character))
            return left >= 0
        }
        return kept + ellipsis
    }

    /// The values of fields as arguments of a localized text, cut as CloudKit does.
    static func arguments(_ paths: [String], _ fields: RecordFields) -> [String] {
        paths.map { path in
            fields[path].map { beginning(of: value(of: $0), charactersMaximum: valueCharactersMaximum) } ?? ""
        }
    }

    /// A value as a person reads it.
    static func value(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let milliseconds): WallTime.text(milliseconds: milliseconds)
        case .bytes(let bytes): Base64.encode(bytes)
        case .reference(let recordName, _): recordName
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .list(let members): text(of: members)
        }
    }

    private static func text(of members: [FieldValue]) -> String {
        var text = ""
        for member in members {
            guard text.utf8.count <= bytesMaximum else { break }
            if !text.isEmpty { text += ", " }
            text += value(of: member)
        }
        return text
    }
}
