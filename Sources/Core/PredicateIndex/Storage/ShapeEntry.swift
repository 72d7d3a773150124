/// A shape in its scope's list, with what makes a key of it, so that the shape itself need not be looked at.
///
///     word  0      the shape
///     words 1, 2   the set of its members in the scope; empty if the shape itself must be looked at
///     words 3, 4   the places of those members, a byte each, and `ScopeMember.nobody` for the rest
struct ShapeEntry {
    static let wordCount = 5
    /// The places of no members at all.
    static let noPlaces = UInt64(ScopeMember.nobody) * 0x0101_0101_0101_0101

    let words: UnsafeMutablePointer<UInt32>

    /// The entry at a place of a scope's list.
    @inline(__always)
    init(_ list: UnsafeMutablePointer<UInt32>, _ place: Int) { words = list + place * Self.wordCount }

    var shape: UInt32 {
        @inline(__always) get { words[0] }
        nonmutating set { words[0] = newValue }
    }
    var members: UInt64 {
        @inline(__always) get { UInt64(words[2]) << 32 | UInt64(words[1]) }
        nonmutating set {
            words[1] = UInt32(truncatingIfNeeded: newValue)
            words[2] = UInt32(truncatingIfNeeded: newValue >> 32)
        }
    }
    var places: UInt64 {
        @inline(__always) get { UInt64(words[4]) << 32 | UInt64(words[3]) }
        nonmutating set {
            words[3] = UInt32(truncatingIfNeeded: newValue)
            words[4] = UInt32(truncatingIfNeeded: newValue >> 32)
        }
    }
}
