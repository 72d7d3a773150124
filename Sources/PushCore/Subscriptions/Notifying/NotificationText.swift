internal import Geography

/// A text of a notification in which `{field}` stands for the value of a field of the record.
enum NotificationText {
    /// What CloudKit may cut the values of fields to, in characters (`desiredKeys`, `alertLocalizationArgs`).
    static let valueCharactersMaximum = 100

    /// The text with the values put in; `{{` and `}}` are braces, and a field that the record lacks is nothing.
    ///
    /// A brace that is not closed is taken as it stands: a text that was saved must not stop a push.
    static func filled(_ text: String, with fields: RecordFields) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) || text.utf8.contains(UInt8(ascii: "}")) else { return text }
        var result = ""
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            result += rest[..<brace]
            let after = rest.index(after: brace)
            if after < rest.endIndex, rest[after] == rest[brace] {
                result.append(rest[brace])
                rest = rest[rest.index(after: after)...]
            } else if rest[brace] == "{", let close = rest[after...].firstIndex(of: "}") {
                result += fields[String(rest[after..<close])].map { value(of: $0) } ?? ""
                rest = rest[rest.index(after: close)...]
            } else {
                result.append(rest[brace])
                rest = rest[after...]
            }
        }
        return result + rest
    }

    /// The values of fields as arguments of a localized text, cut as CloudKit does.
    static func arguments(_ paths: [String], _ fields: RecordFields) -> [String] {
        paths.map { path in String((fields[path].map { value(of: $0) } ?? "").prefix(valueCharactersMaximum)) }
    }

    /// A value as a person reads it.
    static func value(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let milliseconds): Timestamp.text(milliseconds: milliseconds)
        case .bytes(let bytes): Base64.encode(bytes)
        case .reference(let name): name
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .list(let members): members.map { Self.value(of: $0) }.joined(separator: ", ")
        }
    }
}
