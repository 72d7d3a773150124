import Hashing

/// The subscriptions of one `MatchScope`.
struct IndexScope: BitwiseCopyable {
    /// How many shapes of several dimensions a change is probed for at most; predicates of further shapes are found by
    /// a part of their fields.
    static let compositeShapesMaximum = 32
    /// How many of them may have more than two dimensions, if they come first.
    static let shapesOfAnySizeMaximum = 8

    /// The digest of the scope, with which all its keys begin.
    var digest: WordDigest
    /// The digest of the record type.
    var typeDigest: WordDigest
    /// How many predicates are in it.
    var users: UInt32 = 0
    /// How many of its shapes have several dimensions.
    var compositeCount = 0
    /// The block of the shapes that have keys (`ShapeEntry`), and how many there are and could be.
    var shapes: UInt32 = 0
    var shapeCount = 0
    var shapeCapacity = 0
    /// The block of the dimensions that those shapes are made of (`ScopeMember`), and how many there are and could be.
    var members: UInt32 = 0
    var memberCount = 0
    var memberCapacity = 0
    /// The other scopes with the same record type.
    var nextOfType: UInt32 = 0
    var previousOfType: UInt32 = 0

    init(digest: WordDigest, typeDigest: WordDigest) {
        self.digest = digest
        self.typeDigest = typeDigest
    }
}

/// A dimension that shapes of a scope consist of: a bit in the sets of their members.
///
///     word  0      the dimension; 0 if the index is free
///     word  1      how many shapes have it
struct ScopeMember {
    static let wordCount = 2
    /// The most members of a scope: each has one of 64 bits, and `unusedIndex` takes one bit.
    static let countMaximum = 63
    /// The index at which there is never a member.
    static let unusedIndex = 63

    let words: UnsafeMutablePointer<UInt32>

    /// The member at an index of a scope's block.
    init(_ members: UnsafeMutablePointer<UInt32>, _ index: Int) { words = members + index * Self.wordCount }

    var dimension: UInt32 {
        @inline(__always) get { words[0] }
        nonmutating set { words[0] = newValue }
    }
    var users: UInt32 {
        get { words[1] }
        nonmutating set { words[1] = newValue }
    }
}

/// A shape in its scope's list, with what makes a key of it, so that the shape itself need not be looked at.
///
///     word  0      the shape
///     words 1, 2   the set of its members in the scope; empty if the shape itself must be looked at
///     words 3, 4   the indices of those members, a byte each, and `ScopeMember.unusedIndex` for the rest
struct ShapeEntry {
    static let wordCount = 5
    /// The member indices of an empty set.
    static let noMemberIndices = UInt64(ScopeMember.unusedIndex) * 0x0101_0101_0101_0101

    let words: UnsafeMutablePointer<UInt32>

    /// The entry at an index of a scope's list.
    @inline(__always)
    init(_ list: UnsafeMutablePointer<UInt32>, _ index: Int) { words = list + index * Self.wordCount }

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
    var memberIndices: UInt64 {
        @inline(__always) get { UInt64(words[4]) << 32 | UInt64(words[3]) }
        nonmutating set {
            words[3] = UInt32(truncatingIfNeeded: newValue)
            words[4] = UInt32(truncatingIfNeeded: newValue >> 32)
        }
    }
}
