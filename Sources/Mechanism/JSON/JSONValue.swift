/// A value in a parsed document; good until its parser parses again, after which every use traps.
///
/// It is a position, so copying is cheap, and reading allocates only the requested strings.
public struct JSONValue {
    /// The kinds of values; the raw value reads well in a message: "is a string".
    public enum Kind: String, CaseIterable, Sendable {
        /// `null`.
        case null
        /// `true` or `false`.
        case boolean
        /// A number without fraction and exponent, within 64 bits.
        case integer
        /// Any other number.
        case double
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    @usableFromInline let parser: JSONParser
    @usableFromInline let generation: UInt32
    @usableFromInline let index: UInt32

    @inlinable
    init(parser: JSONParser, generation: UInt32, index: UInt32) {
        self.parser = parser
        self.generation = generation
        self.index = index
    }

    @inlinable var tape: JSONTape {
        let tape = parser.tape.pointee
        precondition(tape.generation == generation, "a JSON value was used after its parser had parsed again")
        return tape
    }

    /// The kind of the value.
    @inlinable public var kind: Kind {
        switch tape.type(index) {
        case JSONTape.WordType.object: .object
        case JSONTape.WordType.array: .array
        case JSONTape.WordType.string: .string
        case JSONTape.WordType.signed, JSONTape.WordType.unsigned: .integer
        case JSONTape.WordType.double: .double
        case JSONTape.WordType.yes, JSONTape.WordType.no: .boolean
        default: .null
        }
    }

    /// Whether it is `null`.
    @inlinable public var isNull: Bool { tape.type(index) == JSONTape.WordType.null }

    /// The truth value, or nil if it is no boolean.
    @inlinable public var bool: Bool? {
        switch tape.type(index) {
        case JSONTape.WordType.yes: true
        case JSONTape.WordType.no: false
        default: nil
        }
    }

    /// The integer, or nil if the number is none, or does not fit.
    ///
    /// As JSON Schema counts, `7`, `7.0` and `7e0` are the same integer (draft 2020-12, "Validation", section 6.1.1).
    /// One that is written with a fraction or an exponent was read as a double, which is exact below 2^53 (RFC 7493
    /// section 2.2), so a larger one is none.
    @inlinable public var int64: Int64? {
        let tape = tape
        switch tape.type(index) {
        case JSONTape.WordType.signed: return Int64(bitPattern: tape.word(index + 1))
        case JSONTape.WordType.double: return Self.integer(Double(bitPattern: tape.word(index + 1)))
        default: return nil
        }
    }

    @inlinable
    static func integer(_ number: Double) -> Int64? {
        abs(number) < 0x1p53 ? Int64(exactly: number) : nil
    }

    /// The integer, as `int64` counts, or nil if it is none or negative.
    @inlinable public var uint64: UInt64? {
        let tape = tape
        switch tape.type(index) {
        case JSONTape.WordType.unsigned: return tape.word(index + 1)
        default: return int64.flatMap { UInt64(exactly: $0) }
        }
    }

    /// The double nearest to the number, or nil if it is no number.
    @inlinable public var double: Double? {
        let tape = tape
        switch tape.type(index) {
        case JSONTape.WordType.double: return Double(bitPattern: tape.word(index + 1))
        case JSONTape.WordType.signed: return Double(Int64(bitPattern: tape.word(index + 1)))
        case JSONTape.WordType.unsigned: return Double(tape.word(index + 1))
        default: return nil
        }
    }

    /// A copy of the string, or nil if it is none.
    @inlinable public var string: String? {
        withUTF8 { bytes in String(decoding: bytes, as: UTF8.self) }
    }

    /// Reads the bytes of a string in place: valid UTF-8, unescaped, possibly with NULs among them.
    ///
    /// - Parameter body: reads them; they are not to escape from it.
    /// - Returns: the result of `body`, or nil if the value is no string.
    @inlinable
    public func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result? {
        let tape = tape
        guard tape.type(index) == JSONTape.WordType.string else { return nil }
        return try body(tape.string(index))
    }

    /// Whether it is this string, compared byte by byte.
    @inlinable
    public func isString(_ text: StaticString) -> Bool {
        let tape = tape
        return tape.type(index) == JSONTape.WordType.string && tape.string(index).isEqual(to: text)
    }

    /// The elements, or nil if it is no array.
    @inlinable public var array: JSONArray? {
        let word = tape.word(index)
        guard UInt8(truncatingIfNeeded: word >> 56) == JSONTape.WordType.array else { return nil }
        return JSONArray(parser: parser, generation: generation, index: index, word: word)
    }

    /// The members, or nil if it is no object.
    @inlinable public var object: JSONObject? {
        let word = tape.word(index)
        guard UInt8(truncatingIfNeeded: word >> 56) == JSONTape.WordType.object else { return nil }
        return JSONObject(parser: parser, generation: generation, index: index, word: word)
    }

    /// The first member of that key, or nil if there is none or the value is no object.
    @inlinable
    public subscript(_ key: StaticString) -> JSONValue? { object?[key] }
}

extension JSONValue {
    /// The kind of the value in English, with harmless details: `true`, `an integer`, `a string of 3 bytes`.
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

    /// Whether the value takes no more than so many bytes as JSON without white space, escapes aside.
    ///
    /// The walk ends at the limit, so a far too large value costs no more than a slightly too large one.
    ///
    /// - Parameter bytesMaximum: the limit.
    /// - Returns: whether it is kept. A number counts as one byte, so what was written is never shorter than what
    ///   counts.
    public func isWritten(withinBytes bytesMaximum: Int) -> Bool {
        let tape = tape
        let end = tape.indexAfter(index)
        var left = bytesMaximum
        var current = index
        while current < end {
            switch tape.type(current) {
            case JSONTape.WordType.string:
                // The quotes.
                left -= tape.string(current).count + 2
                current += 1
            case JSONTape.WordType.signed, JSONTape.WordType.unsigned, JSONTape.WordType.double:
                left -= 1
                current += 2
            // Brackets (each has a word at both ends), true, false and null.
            default:
                left -= 1
                current += 1
            }
            guard left >= 0 else { return false }
        }
        return true
    }
}
