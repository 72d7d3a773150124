import Hashing

/// A field in one of the ways in which it can be part of a key.
struct KeyDimension: BitwiseCopyable {
    /// The change for which the digests were made last.
    var madeFor: UInt64 = 0
    /// The first of the digests.
    var digest = WordDigest.zero
    /// Where the digests are.
    var digestStart: UInt32 = 0
    var digestCount: UInt32 = 0
    /// The digest of path and kind.
    var salt: WordDigest
    /// A bit for each level at which there are keys.
    var levels: UInt64 = 0
    /// How many keys there are at each level; 0 if the kind has no levels.
    var levelCounts: UInt32 = 0
    /// How many shapes use it.
    var users: UInt32 = 0
    /// The path of the field; 0 for all fields.
    var path: UInt32
    /// The way.
    var kind: KeyKind

    init(path: UInt32, kind: KeyKind, salt: WordDigest) {
        self.path = path
        self.kind = kind
        self.salt = salt
    }

    /// The digest of a path together with a kind.
    static func salt(path: WordDigest, kind: KeyKind) -> WordDigest {
        var digest = path
        digest.mix(word: UInt64(kind.rawValue) + 1)
        digest.finish()
        return digest
    }
}
