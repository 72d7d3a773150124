/// A member of an object; good until the parser parses again.
public struct JSONMember {
    /// The value.
    public let value: JSONValue

    @inlinable
    init(value: JSONValue) { self.value = value }

    /// The key as a value of its own, to be read in place: always a string.
    @inlinable public var keyValue: JSONValue {
        JSONValue(parser: value.parser, generation: value.generation, index: value.index - 1)
    }

    /// A copy of the key.
    @inlinable public var key: String {
        String(decoding: value.tape.string(value.index - 1), as: UTF8.self)
    }

    /// Whether the key is this one, compared byte by byte.
    @inlinable
    public func isNamed(_ key: StaticString) -> Bool { value.tape.string(value.index - 1).isEqual(to: key) }
}
