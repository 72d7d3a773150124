public import JSON

/// Checks values against JSON Schemas, as much of them as the project's documents use.
public struct JSONSchema {
    /// The whole document, in which references are looked up.
    public let document: JSONValue

    /// Takes a document: a schema, or one that contains schemas.
    public init(document: JSONValue) { self.document = document }

    /// Returns the violations of a schema by a value; empty if there are none.
    public func violations(_ value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
        var found: [String] = []
        if let reference = schema["$ref"]?.string {
            guard let target = resolve(reference) else { return ["\(path): \(reference) leads nowhere"] }
            found += violations(value, target, at: path)
        }
        if let type = schema["type"] {
            let types = type.array?.compactMap(\.string) ?? [type.string].compactMap { $0 }
            if !types.contains(where: { Self.isType(value, $0) }) { return found + ["\(path) is no \(types)"] }
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(where: { Self.isSame($0, value) }) {
            found.append("\(path) is none of the values")
        }
        if let wanted = schema["const"], !Self.isSame(wanted, value) { found.append("\(path) is another value") }
        found += combined(value, schema, at: path)
        if let text = value.string { found += violations(text, schema, at: path) }
        if let text = value.string, let content = schema["contentSchema"] {
            // The specification leaves it to the reader whether the content is validated.
            guard let parsed = try? JSONParser().parse(Array(text.utf8)) else { return found + ["\(path) is no JSON"] }
            found += violations(parsed, content, at: path)
        }
        if let number = value.int64 {
            if let minimum = schema["minimum"]?.int64, number < minimum { found.append("\(path) is too small") }
            if let maximum = schema["maximum"]?.int64, number > maximum { found.append("\(path) is too large") }
        }
        if let object = value.object { found += violations(object, schema, at: path) }
        if let array = value.array.map(Array.init) { found += violations(array, schema, at: path) }
        return found
    }

    /// Returns the target of a local reference; nil if it leads nowhere.
    public func resolve(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(document) { value, name in
            value.flatMap { Self.member(String(name), of: $0) }
        }
    }

    /// A member by a name that is known at run time only.
    public static func member(_ name: String, of value: JSONValue) -> JSONValue? {
        value.object.flatMap { object in object.first { $0.key == name }?.value }
    }

    private func isValid(_ value: JSONValue, _ schema: JSONValue) -> Bool { violations(value, schema).isEmpty }

    private func combined(_ value: JSONValue, _ schema: JSONValue, at path: String) -> [String] {
        var found: [String] = []
        for part in schema["allOf"]?.array.map(Array.init) ?? [] { found += violations(value, part, at: path) }
        if let parts = schema["anyOf"]?.array, !parts.contains(where: { isValid(value, $0) }) {
            found.append("\(path) is none of anyOf")
        }
        if let parts = schema["oneOf"]?.array.map(Array.init) {
            let count = parts.filter { isValid(value, $0) }.count
            if count != 1 { found.append("\(path) is \(count) of oneOf") }
        }
        if let refused = schema["not"], isValid(value, refused) { found.append("\(path) is what it must not be") }
        if let condition = schema["if"], let consequence = schema["then"], isValid(value, condition) {
            found += violations(value, consequence, at: path)
        }
        return found
    }

    private func violations(_ text: String, _ schema: JSONValue, at path: String) -> [String] {
        var found: [String] = []
        let count = text.unicodeScalars.count
        if let minimum = schema["minLength"]?.int64, count < minimum { found.append("\(path) is too short") }
        if let maximum = schema["maxLength"]?.int64, count > maximum { found.append("\(path) is too long") }
        if let pattern = schema["pattern"]?.string {
            guard let regex = try? Regex(pattern).matchingSemantics(.unicodeScalar) else {
                return found + ["\(pattern) is no pattern"]
            }
            if text.firstMatch(of: regex) == nil { found.append("\(path) is not of the form \(pattern)") }
        }
        return found
    }

    private func violations(_ array: [JSONValue], _ schema: JSONValue, at path: String) -> [String] {
        var found: [String] = []
        if let minimum = schema["minItems"]?.int64, array.count < minimum { found.append("\(path) has too few") }
        if let maximum = schema["maxItems"]?.int64, array.count > maximum { found.append("\(path) has too many") }
        guard let items = schema["items"] else { return found }
        for (index, element) in array.enumerated() { found += violations(element, items, at: "\(path)[\(index)]") }
        return found
    }

    private func violations(_ object: JSONObject, _ schema: JSONValue, at path: String) -> [String] {
        var found: [String] = []
        for name in schema["required"]?.array.map({ $0.compactMap(\.string) }) ?? []
        where !object.contains(where: { $0.key == name }) {
            found.append("\(path).\(name) is missing")
        }
        if let maximum = schema["maxProperties"]?.int64, object.count > maximum {
            found.append("\(path) has too many members")
        }
        for member in object {
            if let property = schema["properties"].flatMap({ Self.member(member.key, of: $0) }) {
                found += violations(member.value, property, at: "\(path).\(member.key)")
            } else if schema["additionalProperties"]?.bool == false {
                found.append("\(path).\(member.key) is not in the schema")
            } else if let other = schema["additionalProperties"], other.object != nil {
                found += violations(member.value, other, at: "\(path).\(member.key)")
            }
        }
        return found
    }

    private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if let text = one.string { return text == other.string }
        if let number = one.double { return number == other.double }
        return one.isNull ? other.isNull : one.bool == other.bool && one.bool != nil
    }

    private static func isType(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "number": value.double != nil
        case "integer": value.int64 != nil
        case "boolean": value.bool != nil
        case "null": value.isNull
        default: false
        }
    }
}
