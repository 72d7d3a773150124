/// One named value of a log entry.
public struct LogField: Sendable {
    /// The kinds of value that a log line can hold.
    public enum Value: Hashable, Sendable {
        /// Text.
        case string(String)
        /// A whole number.
        case integer(Int)
        /// A number.
        case number(Double)
        /// True or false.
        case boolean(Bool)
    }

    /// The name, with its unit if it has one: `durationSeconds`.
    public let name: StaticString
    /// The value.
    public let value: Value

    /// A field with text.
    public static func field(_ name: StaticString, _ value: String) -> LogField {
        LogField(name: name, value: .string(value))
    }

    /// A field with a whole number.
    public static func field(_ name: StaticString, _ value: Int) -> LogField {
        LogField(name: name, value: .integer(value))
    }

    /// A field with a number.
    public static func field(_ name: StaticString, _ value: Double) -> LogField {
        LogField(name: name, value: .number(value))
    }

    /// A field with a truth value.
    public static func field(_ name: StaticString, _ value: Bool) -> LogField {
        LogField(name: name, value: .boolean(value))
    }
}
