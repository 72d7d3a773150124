/// A set of dimensions in a scope: which fields, in which ways, a key is made of.
struct KeyShape: BitwiseCopyable {
    /// How many dimensions a shape can have.
    static let dimensionsMaximum = 8

    /// The dimensions, in order; one at most is not `isSingle`.
    var dimensions: InlineArray<8, UInt32>
    /// How many dimensions there are.
    var dimensionCount: Int
    /// The place in `dimensions` of the one that a record can have many digests for; -1 if there is none.
    var manifold = -1
    /// The change for which the sum was made last, and the sum; only of shapes without a `manifold`.
    var madeFor: UInt64 = 0
    var hasSum = false
    var sum = WordDigest(high: 0, low: 0)
    /// The scope.
    var scope: UInt32
    /// How many postings have a key or a proof of this shape.
    var users: UInt32 = 0
    /// How many postings have a key of this shape.
    var keyCount: UInt32 = 0
    /// Its place among the shapes for which a record is probed.
    var place: UInt32 = 0
    /// Where it is found.
    var tableHash: UInt32

    init(scope: UInt32, dimensions: InlineArray<8, UInt32>, count: Int, tableHash: UInt32) {
        self.scope = scope
        self.dimensions = dimensions
        dimensionCount = count
        self.tableHash = tableHash
    }
}
