public import Essentials

/// The indices of a list's entries from some index on, without those whose entry occurred before: a name that occurs
/// twice in an audience counts once.
public struct FirstOccurrences<Element: Hashable>: Sequence, IteratorProtocol {
    @usableFromInline let list: [Element]
    @usableFromInline var index: Int
    @usableFromInline var seen: Set<Element>

    /// Creates the sequence; a start beyond the end gives none.
    @inlinable
    public init(of list: [Element], from start: Int) {
        self.list = list
        index = Swift.max(start, 0)
        seen = list.count > 1 && index < list.count ? Set(list[..<index]) : []
    }

    /// The next index, or nil.
    @inlinable
    public mutating func next() -> Int? {
        while index < list.count {
            defer { index += 1 }
            if list.count == 1 || seen.insert(list[index]).inserted { return index }
        }
        return nil
    }
}

extension FirstOccurrences<ByteText> {
    /// Begins with an element of a list of names, which are told apart by their bytes.
    ///
    /// - Parameters:
    ///   - names: the list.
    ///   - start: the index to begin with.
    public init(of names: [String], from start: Int) { self.init(of: names.map(ByteText.init), from: start) }
}
