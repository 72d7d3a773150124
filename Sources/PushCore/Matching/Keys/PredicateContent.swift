/// A predicate as the index sees it: what its keys could be, and a digest of all of it.
struct PredicateContent {
    /// What the terms of each conjunction contribute to keys.
    var options: [[KeyOption]]
    /// Whether a record satisfies the predicate exactly if the digests of its fields add up to `digest`.
    var isOneSum: Bool
    /// The digest of scope and predicate.
    var digest: WordDigest

    init(_ predicate: Predicate, scope: WordDigest, _ hashes: ValueDigests) {
        options = predicate.conjunctions.map { terms in
            terms.enumerated().compactMap { KeyOption($1, at: $0, hashes) }
        }
        if let first = options.first, options.count == 1, first.count == predicate.conjunctions[0].count,
            first.count <= KeyShape.dimensionsMaximum, Self.isOneSum(first)
        {
            isOneSum = true
            digest = first.reduce(scope) { $0 + $1.digests[0] }
        } else {
            isOneSum = false
            digest = scope
            predicate.canonicalBytes.withUnsafeBytes { digest.mix($0) }
            digest.finish()
        }
    }

    /// Whether each option has one digest, of a dimension of its own.
    private static func isOneSum(_ options: [KeyOption]) -> Bool {
        options.indices.allSatisfy { place in
            options[place].kind.isSingle && options[place].digests.count == 1
                && !options[..<place].contains { $0.salt == options[place].salt }
        }
    }
}
