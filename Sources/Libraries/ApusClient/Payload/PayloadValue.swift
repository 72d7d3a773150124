public import Foundation

/// A value of a payload: one of JSON's types, with whole numbers apart from others.
public enum PayloadValue: Hashable, Sendable {
    /// JSON's `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number that fits into 64 bits, also one that is written as 7.0.
    case integer(Int64)
    /// Any other number; always finite.
    case number(Double)
    /// A text.
    case text(String)
    /// A list.
    case array([PayloadValue])
    /// An object.
    case object([String: PayloadValue])

    /// The text; nil if it is another type.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The whole number; nil if it is another type, or too large.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The number; nil if it is another type.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// The truth value; nil if it is another type, also a number.
    public var boolean: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The elements; nil if it is another type.
    public var array: [PayloadValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members; nil if it is another type.
    public var object: [String: PayloadValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The member of that name; nil if there is none, or the value is no object.
    public subscript(name: String) -> PayloadValue? { object?[name] }

    /// The type and, if it is short, the value: for texts about what is wrong.
    var shortDescription: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(PayloadProblem.printable(text))\""
        case .array(let elements): "an array of \(elements.count)"
        case .object(let members): "an object of \(members.count) members"
        }
    }
}

extension PayloadValue: Codable {
    /// Reads JSON.
    ///
    /// - Throws: `DecodingError` for a number that no double can be.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let members = try? container.decode([String: PayloadValue].self) {
            self = .object(members)
        } else if let elements = try? container.decode([PayloadValue].self) {
            self = .array(elements)
        } else {
            self = .of(try container.decode(Double.self))
        }
    }

    /// A finite number in its form.
    static func of(_ number: Double) -> PayloadValue { Int64(exactly: number).map { .integer($0) } ?? .number(number) }

    /// Writes the value as the JSON that it was.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension Dictionary where Key == String, Value == PayloadValue {
    /// Reads members into a type of the app's own.
    ///
    /// - Parameters:
    ///   - type: for example a message of a chat.
    ///   - decoder: how dates, data and keys are read.
    /// - Returns: the value. Members that the type does not have are ignored.
    /// - Throws: `DecodingError` if a member is missing or of another type.
    public func decoded<Content: Decodable>(
        as type: Content.Type, using decoder: JSONDecoder = JSONDecoder()
    ) throws -> Content {
        try decoder.decode(type, from: JSONEncoder().encode(self))
    }
}
