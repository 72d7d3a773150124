import Hashing
import Predicates

/// A path of a field that predicates ask for.
struct PathEntry: BitwiseCopyable {
    /// The digest of the path.
    var digest: WordDigest
    /// How many dimensions and residual terms use it.
    var users: UInt32 = 0
    /// The change in which the field was seen last, and where in it.
    var seenIn: UInt64 = 0
    var field: UInt32 = 0

    init(digest: WordDigest) { self.digest = digest }

    /// Where in the record of a change the field is; nil if it is missing.
    @inline(__always)
    func field(in change: UInt64) -> Int? { seenIn == change ? Int(field) : nil }
}
