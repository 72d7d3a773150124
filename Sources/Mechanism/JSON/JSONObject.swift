/// The members of an object, in the order of the document; good until the parser parses again.
public struct JSONObject: Sequence {
    @usableFromInline let parser: JSONParser
    @usableFromInline let generation: UInt32
    @usableFromInline let start: UInt32
    @usableFromInline let end: UInt32

    @inlinable
    init(parser: JSONParser, generation: UInt32, index: UInt32, word: UInt64) {
        self.parser = parser
        self.generation = generation
        self.start = index + 1
        self.end = UInt32(truncatingIfNeeded: word) - 1
    }

    /// Whether there are no members.
    @inlinable public var isEmpty: Bool { start == end }

    /// Counts the members by walking over them.
    @inlinable public var count: Int { reduce(0) { count, _ in count + 1 } }

    /// The first member of that key, found by walking over them.
    @inlinable
    public subscript(_ key: StaticString) -> JSONValue? {
        member { bytes in bytes.isEqual(to: key) }
    }

    /// The first member of a key that is known at run time only.
    public func member(named key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { wanted in member { bytes in bytes.elementsEqual(wanted) } }
    }

    /// The first member whose key is none of these.
    ///
    /// - Parameter keys: the keys that are known.
    /// - Returns: the member, or nil if all keys are known.
    public func firstMember(notAmong keys: [StaticString]) -> JSONMember? {
        guard start < end else { return nil }
        let tape = JSONValue(parser: parser, generation: generation, index: start).tape
        var index = start
        while index < end {
            let name = tape.string(index)
            guard keys.contains(where: { key in name.isEqual(to: key) }) else {
                return JSONMember(value: JSONValue(parser: parser, generation: generation, index: index + 1))
            }
            index = tape.indexAfter(index + 1)
        }
        return nil
    }

    @inlinable
    func member(where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) -> JSONValue? {
        guard start < end else { return nil }
        let tape = JSONValue(parser: parser, generation: generation, index: start).tape
        var index = start
        while index < end {
            if isWanted(tape.string(index)) {
                return JSONValue(parser: parser, generation: generation, index: index + 1)
            }
            index = tape.indexAfter(index + 1)
        }
        return nil
    }

    /// Begins at the first member.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(object: self, index: start) }

    /// Walks over the members.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let object: JSONObject
        @usableFromInline var index: UInt32

        @inlinable
        init(object: JSONObject, index: UInt32) {
            self.object = object
            self.index = index
        }

        /// The next member, or nil behind the last.
        @inlinable
        public mutating func next() -> JSONMember? {
            guard index < object.end else { return nil }
            let value = JSONValue(parser: object.parser, generation: object.generation, index: index + 1)
            index = value.tape.indexAfter(index + 1)
            return JSONMember(value: value)
        }
    }
}

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
