import Hashing

/// A term of a conjunction that can be part of a key, and what it contributes.
struct KeyOption: BitwiseCopyable {
    /// The place of the term in its conjunction.
    var term: Int
    /// How the field becomes part of the key.
    var kind: KeyKind
    /// The digest of the path.
    var path: WordDigest
    /// The digest of path and kind.
    var salt: WordDigest
    /// Where, among the digests of the predicate, those begin any of which the record must have.
    var digestStart: Int
    /// How many digests there are.
    var digestCount = 0
    /// The level of the digests, if the kind has levels.
    var level = 0
    /// Whether a record with one of the digests satisfies the term: nothing is left to test.
    var isExact: Bool

    /// Whether the term asks for one value.
    var isEquality: Bool { kind.isSingle && digestCount == 1 }
}
