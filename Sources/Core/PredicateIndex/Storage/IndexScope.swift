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
