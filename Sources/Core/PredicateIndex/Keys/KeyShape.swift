import Hashing

/// A set of dimensions in a scope: which fields, in which ways, a key is made of.
struct KeyShape: BitwiseCopyable {
    /// How many dimensions a shape can have.
    static let dimensionsMaximum = 8

    /// The set of its dimensions among the members of the scope; empty if they are none, or not all of them are
    /// members.
    var members: UInt64 = 0
    /// The indices of those members, a byte each, and `ScopeMember.unusedIndex` for the rest.
    var memberIndices = ShapeEntry.noMemberIndices
    /// The scope.
    var scope: UInt32
    /// The dimensions, in order; one at most is not `isSingle`.
    var dimensions: InlineArray<8, UInt32>
    /// How many dimensions there are.
    var dimensionCount: Int
    /// The index in `dimensions` of the one that a record can have many digests for; -1 if there is none.
    var manifold = -1
    /// The change for which the sum was made last, and the sum; only of shapes without `members` and a `manifold`.
    var madeFor: UInt64 = 0
    var hasSum = false
    var sum = WordDigest.zero
    /// How many postings have a key or a proof of this shape.
    var users: UInt32 = 0
    /// How many postings have a key of this shape.
    var keyCount: UInt32 = 0
    /// The index of its entry in the scope's list of shapes.
    var entryIndex: UInt32 = 0
    /// Where it is found.
    var tableHash: UInt32

    init(scope: UInt32, dimensions: InlineArray<8, UInt32>, count: Int, tableHash: UInt32) {
        self.scope = scope
        self.dimensions = dimensions
        dimensionCount = count
        self.tableHash = tableHash
    }
}
