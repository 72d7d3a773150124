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

/// Where a page of a list of identities or users ended: in which entry, after which device.
///
/// Both are kept in the one number of an `AudienceCursor`: the upper 22 bits hold the entry (a message is too small for
/// more than four million), the lower 41 bits hold the device's row in the registry.
public struct OwnerPosition: Hashable, Sendable {
    private static let rowBits: Int64 = 41
    private static let rowMask: Int64 = 1 << rowBits - 1

    /// The index of the entry in its list.
    public var element: Int
    /// The row of the last device.
    public var row: Int64

    /// Creates a position.
    public init(element: Int, row: Int64) {
        self.element = element
        self.row = row
    }

    /// Reads a position from a number that is not negative.
    public init(encoded: Int64) {
        element = Int(encoded >> Self.rowBits)
        row = encoded & Self.rowMask
    }

    /// The position as one number.
    public var encoded: Int64 { Int64(element) << Self.rowBits | row & Self.rowMask }
}
