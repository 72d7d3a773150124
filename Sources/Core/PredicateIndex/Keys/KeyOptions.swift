import Hashing

/// The options of one conjunction, where `PredicateContent` keeps them until it reads another predicate.
struct KeyOptions: BitwiseCopyable {
    private let first: UnsafeMutablePointer<KeyOption>
    private let firstDigest: UnsafeMutablePointer<WordDigest>
    /// How many options there are.
    let count: Int

    /// The options from an address on, and the digests of the predicate that they are about.
    init(_ first: UnsafeMutablePointer<KeyOption>, count: Int, digests: UnsafeMutablePointer<WordDigest>) {
        self.first = first
        self.count = count
        firstDigest = digests
    }

    /// The option at a place.
    @inline(__always)
    subscript(place: Int) -> KeyOption { first[place] }

    /// The set of all options, as far as a set can hold them.
    var all: KeyOptionSet { KeyOptionSet(firstOf: count) }

    /// The digests of an option.
    @inline(__always)
    func digests(of place: Int) -> UnsafeBufferPointer<WordDigest> {
        UnsafeBufferPointer(start: firstDigest + first[place].digestStart, count: first[place].digestCount)
    }

    /// How many keys a set makes: one for each combination of digests; counted no further than over the maximum.
    func keyCount(_ set: KeyOptionSet) -> Int {
        var count = 1
        for place in set where count <= KeyOption.digestsMaximum { count *= first[place].digestCount }
        return count
    }

    /// The key of a set of options that have one digest each, in the scope with a digest.
    func sum(_ set: KeyOptionSet, _ scope: WordDigest) -> WordDigest {
        set.reduce(scope) { $0 + firstDigest[first[$1].digestStart] }
    }

    /// The keys of a set, in the scope with a digest: all sums of one digest of each option.
    func forEachKey(_ set: KeyOptionSet, _ scope: WordDigest, _ body: (WordDigest) -> Void) {
        var rest = set
        guard let place = rest.next() else { return body(scope) }
        for digest in digests(of: place) { forEachKey(rest, scope + digest, body) }
    }
}
