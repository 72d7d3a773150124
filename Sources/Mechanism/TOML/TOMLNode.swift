/// A value of a TOML document, and where it stands.
public struct TOMLNode: Hashable, Sendable {
    /// The kinds of value.
    public indirect enum Value: Hashable, Sendable {
        /// Text.
        case string(String)
        /// A whole number.
        case integer(Int)
        /// A number with a fraction or an exponent.
        case number(Double)
        /// True or false.
        case boolean(Bool)
        /// A date, a time or both, as text.
        case dateTime(String)
        /// Values in a row.
        case array([TOMLNode])
        /// Names and their values, in the order of the document.
        case table([TOMLEntry])
    }

    /// The value.
    public let value: Value
    /// The line of the value's key, or of the value itself inside an array; from 1, and 0 for the document as a whole.
    public let line: Int

    /// Creates a node.
    public init(_ value: Value, line: Int) {
        self.value = value
        self.line = line
    }

    /// The kind of the value, in words for an error text.
    public var kindDescription: String {
        switch value {
        case .string: "a string"
        case .integer: "a whole number"
        case .number: "a number with a fraction"
        case .boolean: "true or false"
        case .dateTime: "a date or time"
        case .array: "an array"
        case .table: "a table"
        }
    }
}

/// A name in a TOML table and its value.
public struct TOMLEntry: Hashable, Sendable {
    /// The name.
    public let key: String
    /// The value.
    public let node: TOMLNode

    /// Creates an entry.
    public init(key: String, node: TOMLNode) {
        self.key = key
        self.node = node
    }
}
