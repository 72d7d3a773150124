/// The elements of an array, in order; good until the parser parses again.
public struct JSONArray: Sequence {
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

    /// Whether there are no elements.
    @inlinable public var isEmpty: Bool { start == end }

    /// Counts the elements by walking over them.
    @inlinable public var count: Int { reduce(0) { count, _ in count + 1 } }

    /// Begins at the first element.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(array: self, index: start) }

    /// Walks over the elements.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let array: JSONArray
        @usableFromInline var index: UInt32

        @inlinable
        init(array: JSONArray, index: UInt32) {
            self.array = array
            self.index = index
        }

        /// The next element, or nil behind the last.
        @inlinable
        public mutating func next() -> JSONValue? {
            guard index < array.end else { return nil }
            let value = JSONValue(parser: array.parser, generation: array.generation, index: index)
            index = value.tape.indexAfter(index)
            return value
        }
    }
}
