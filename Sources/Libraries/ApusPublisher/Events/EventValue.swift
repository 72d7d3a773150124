/// A JSON value of your own: a field of a record, or data for the app.
///
/// Literals are values: `["artist": "Mei Chen", "price": 12.5, "tags": ["live", "jazz"]]`.
public enum EventValue: Hashable, Sendable {
    /// No value.
    case null
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number; not infinite, and no NaN.
    case double(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([EventValue])
    /// Values by name; they are written in the order of their names.
    case object([String: EventValue])
}

extension EventValue: ExpressibleByNilLiteral {
    /// `nil` is null.
    public init(nilLiteral: ()) { self = .null }
}

extension EventValue: ExpressibleByBooleanLiteral {
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension EventValue: ExpressibleByIntegerLiteral {
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension EventValue: ExpressibleByFloatLiteral {
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension EventValue: ExpressibleByStringLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension EventValue: ExpressibleByArrayLiteral {
    /// A list.
    public init(arrayLiteral elements: EventValue...) { self = .array(elements) }
}

extension EventValue: ExpressibleByDictionaryLiteral {
    /// Values by name; of equal names the last counts.
    public init(dictionaryLiteral elements: (String, EventValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
