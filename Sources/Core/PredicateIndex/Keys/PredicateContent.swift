import Hashing
import Predicates

/// A predicate as the index sees it: its possible keys, and a digest of all of it.
///
/// An index reads all its predicates into the same memory, one after the other, because millions come when a worker
/// starts.
struct PredicateContent: ~Copyable {
    /// The terms of all conjunctions that can be part of keys, and their digests.
    private var options = ScratchArray<KeyOption>()
    private var digests = ScratchArray<WordDigest>()
    /// Where the options of each conjunction end.
    private var ends = ScratchArray<Int>()
    private var writer = CanonicalWriter()
    /// Whether a record satisfies the predicate exactly if the digests of its fields add up to `digest`.
    private(set) var isOneSum = false
    /// The digest of scope and predicate.
    private(set) var digest = WordDigest.zero

    /// Reads a predicate in place of the previous one.
    mutating func read(_ predicate: Predicate, scope: WordDigest, _ hashes: ValueDigests) {
        options.removeAll()
        digests.removeAll()
        ends.removeAll()
        for terms in predicate.conjunctions {
            for index in terms.indices {
                let start = digests.count
                if let option = KeyOption(terms[index], at: index, hashes, into: &digests) {
                    options.append(option)
                } else {
                    digests.removeLast(digests.count - start)
                }
            }
            ends.append(options.count)
        }
        isOneSum = isOneSum(predicate)
        if isOneSum {
            let options = options(ofConjunction: 0)
            digest = options.sum(options.all, scope)
        } else {
            writer.removeAll()
            writer.write(predicate)
            digest = scope
            writer.bytes.withUnsafeBytes { digest.mix($0) }
            digest.finish()
        }
    }

    /// The options of a conjunction, until the next predicate is read.
    func options(ofConjunction index: Int) -> KeyOptions {
        let start = index == 0 ? 0 : ends[index - 1]
        return KeyOptions(options.pointer(start), count: ends[index] - start, digests: digests.pointer(0))
    }

    /// Whether there is one conjunction, and each of its terms has one digest, of a dimension of its own.
    private func isOneSum(_ predicate: Predicate) -> Bool {
        guard ends.count == 1, options.count == predicate.conjunctions[0].count,
            options.count <= KeyShape.dimensionsMaximum
        else { return false }
        for index in 0..<options.count {
            guard options[index].isEquality else { return false }
            for before in 0..<index where options[before].salt == options[index].salt { return false }
        }
        return true
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { options.memoryBytes + digests.memoryBytes + ends.memoryBytes + writer.bytes.capacity }
}
