/// A dimension of which shapes of a scope are made: a bit in the sets of their members.
///
///     word  0      the dimension; 0 if the place is free
///     word  1      how many shapes have it
struct ScopeMember {
    static let wordCount = 2
    /// How many a scope has at most: a bit of 64 for each, but for `nobody`.
    static let countMaximum = 63
    /// The place at which there is never a member.
    static let nobody = 63

    let words: UnsafeMutablePointer<UInt32>

    /// The member at a place of a scope's block.
    init(_ members: UnsafeMutablePointer<UInt32>, _ place: Int) { words = members + place * Self.wordCount }

    var dimension: UInt32 {
        @inline(__always) get { words[0] }
        nonmutating set { words[0] = newValue }
    }
    var users: UInt32 {
        get { words[1] }
        nonmutating set { words[1] = newValue }
    }
}
