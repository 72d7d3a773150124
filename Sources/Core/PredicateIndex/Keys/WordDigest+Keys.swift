import Hashing

/// The elements of the matching index's keys: digests under a secret seed, whose sums name sets.
///
/// A key is the digest of a scope plus one digest for each field that it is about. Sums are quick, so that a change is
/// probed for many sets of fields at the price of one hash for each field. Two sums collide with a chance of 2^-96
/// (that many bits are kept), and without the seed a collision cannot be searched for.
extension WordDigest {
    /// The digest of the empty set.
    static let zero = WordDigest(high: 0, low: 0)

    /// The digest of a set that is the union of two.
    static func + (left: WordDigest, right: WordDigest) -> WordDigest {
        WordDigest(high: left.high &+ right.high, low: left.low &+ right.low)
    }

    /// The bits by which a key is looked up.
    var tableHash: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }
    /// The bits that a node compares, of those in `low`.
    var check: UInt32 { UInt32(truncatingIfNeeded: low) }
    /// The bits that are compared beside `low` and `tableHash`.
    var middle: UInt32 { UInt32(truncatingIfNeeded: high) }

    /// A digest that differs with what this one is used for.
    @inline(__always)
    func salted(by salt: WordDigest) -> WordDigest {
        var digest = salt
        digest.mix(word: high)
        digest.mix(word: low)
        return digest
    }

    /// The digest of a cell of a level, where this digest says of which field.
    @inline(__always)
    func cell(_ cell: UInt64, level: Int) -> WordDigest {
        var digest = self
        digest.mix(word: cell)
        digest.mix(word: UInt64(level))
        digest.mix(word: cell)
        return digest
    }
}
