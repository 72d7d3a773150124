extension JSONValue {
    /// The kind of the value in English, with what is harmless about it: `true`, `an integer`, `a string of 3 bytes`.
    ///
    /// Contents are left out, which may be secret.
    public var kindDescription: String {
        switch kind {
        case .null: return "null"
        case .boolean: return bool == true ? "true" : "false"
        case .integer: return "an integer"
        case .double: return "a number with a fraction or an exponent"
        case .string:
            let count = withUTF8(\.count) ?? 0
            return count == 0 ? "an empty string" : "a string of \(count) \(count == 1 ? "byte" : "bytes")"
        case .array: return array?.isEmpty == true ? "an empty array" : "an array"
        case .object: return object?.isEmpty == true ? "an empty object" : "an object"
        }
    }
}
