import JSON

/// Checks values against schemas of an OpenAPI document, as much of JSON Schema as ours uses.
struct JSONSchema {
    /// The whole document, in which references are looked up.
    let document: JSONValue

    /// What is wrong with a value; empty if nothing is.
    func violations(_ value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
        if let reference = schema["$ref"]?.string {
            guard let target = resolve(reference) else { return ["\(place): \(reference) leads nowhere"] }
            return violations(value, target, at: place)
        }
        var found: [String] = []
        if let type = schema["type"]?.string, !Self.isType(value, type) { return ["\(place) is no \(type)"] }
        if let allowed = schema["enum"]?.array, !allowed.contains(where: { $0.string == value.string }) {
            found.append("\(place) is none of the values")
        }
        if let text = value.string?.unicodeScalars.count {
            if let minimum = schema["minLength"]?.int64, text < minimum { found.append("\(place) is too short") }
            if let maximum = schema["maxLength"]?.int64, text > maximum { found.append("\(place) is too long") }
        }
        if let number = value.int64 {
            if let minimum = schema["minimum"]?.int64, number < minimum { found.append("\(place) is too small") }
            if let maximum = schema["maximum"]?.int64, number > maximum { found.append("\(place) is too large") }
        }
        if let object = value.object { found += violations(object, schema, at: place) }
        if let array = value.array, let items = schema["items"] {
            for (index, element) in array.enumerated() { found += violations(element, items, at: "\(place)[\(index)]") }
        }
        return found
    }

    /// What a local reference leads to.
    func resolve(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(document) { value, name in
            value.flatMap { Self.member(String(name), of: $0) }
        }
    }

    /// A member by a name that is known at run time only.
    static func member(_ name: String, of value: JSONValue) -> JSONValue? {
        value.object.flatMap { object in object.first { $0.key == name }?.value }
    }

    private func violations(_ object: JSONObject, _ schema: JSONValue, at place: String) -> [String] {
        var found: [String] = []
        for name in schema["required"]?.array.map({ $0.compactMap(\.string) }) ?? []
        where !object.contains(where: { $0.key == name }) {
            found.append("\(place).\(name) is missing")
        }
        for member in object {
            if let property = schema["properties"].flatMap({ Self.member(member.key, of: $0) }) {
                found += violations(member.value, property, at: "\(place).\(member.key)")
            } else if schema["additionalProperties"]?.bool == false {
                found.append("\(place).\(member.key) is not in the schema")
            }
        }
        return found
    }

    private static func isType(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "integer": value.kind == .integer
        case "boolean": value.bool != nil
        default: false
        }
    }
}
