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

    /// The option at an index.
    @inline(__always)
    subscript(index: Int) -> KeyOption { first[index] }

    /// The set of all options, as far as a set can hold them.
    var all: KeyOptionSet { KeyOptionSet(firstOf: count) }

    /// The digests of an option.
    @inline(__always)
    func digests(of index: Int) -> UnsafeBufferPointer<WordDigest> {
        UnsafeBufferPointer(start: firstDigest + first[index].digestStart, count: first[index].digestCount)
    }

    /// How many keys a set makes: one for each combination of digests; counted no further than over the maximum.
    func keyCount(_ set: KeyOptionSet) -> Int {
        var count = 1
        for index in set where count <= KeyOption.digestsMaximum { count *= first[index].digestCount }
        return count
    }

    /// The key of a set of options that have one digest each, in the scope with a digest.
    func sum(_ set: KeyOptionSet, _ scope: WordDigest) -> WordDigest {
        set.reduce(scope) { $0 + firstDigest[first[$1].digestStart] }
    }

    /// The keys of a set, in the scope with a digest: all sums of one digest of each option.
    func forEachKey(_ set: KeyOptionSet, _ scope: WordDigest, _ body: (WordDigest) -> Void) {
        var rest = set
        guard let index = rest.next() else { return body(scope) }
        for digest in digests(of: index) { forEachKey(rest, scope + digest, body) }
    }
}

/// Some of the options of a conjunction, by their indices; those beyond the 32nd are never among them.
///
/// A sequence that is its own iterator: `next` takes the first out.
struct KeyOptionSet: BitwiseCopyable, Sequence, IteratorProtocol, Equatable {
    private var bits: UInt32

    /// No option.
    init() { bits = 0 }

    /// The option at an index.
    init(_ index: Int) { bits = 1 << UInt32(index) }

    /// The first options of a conjunction.
    init(firstOf count: Int) { bits = count < UInt32.bitWidth ? 1 << UInt32(count) - 1 : .max }

    /// How many options are in the set.
    var count: Int { bits.nonzeroBitCount }
    /// Whether there is none.
    var isEmpty: Bool { bits == 0 }

    /// Whether an option is in the set.
    func contains(_ index: Int) -> Bool { bits >> UInt32(index) & 1 == 1 }

    /// The options of both sets.
    static func + (left: KeyOptionSet, right: KeyOptionSet) -> KeyOptionSet {
        var both = left
        both.bits |= right.bits
        return both
    }

    /// Takes the first option out.
    mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
    }
}
