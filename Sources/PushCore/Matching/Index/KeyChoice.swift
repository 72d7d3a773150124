/// Which options of a conjunction are the cheapest keys of those looked at so far.
struct KeyChoice {
    /// What a further key costs: as much as this many postings in the way.
    private static let furtherKeyCost = 2.0

    /// The options that there are; a set of them has a bit for each.
    let options: [KeyOption]
    /// The numbers of their dimensions; 0 if there is none yet.
    let dimensions: [UInt32]
    /// The cheapest set.
    private(set) var best: UInt32 = 0
    private var cost = Double.infinity

    init(_ options: [KeyOption], dimensions: [UInt32]) {
        self.options = options
        self.dimensions = dimensions
    }

    /// The options of the cheapest set.
    var bestOptions: [KeyOption] { options.indices.filter { best >> UInt32($0) & 1 == 1 }.map { options[$0] } }

    /// How many keys a set makes: one for each combination of digests.
    func keyCount(_ set: UInt32) -> Int {
        var count = 1
        var rest = set
        while rest != 0, count <= KeyOption.digestsMaximum {
            count *= options[rest.trailingZeroBitCount].digests.count
            rest &= rest - 1
        }
        return count
    }

    /// The keys of a set, in the scope with a digest.
    func forEachKey(_ set: UInt32, _ scope: WordDigest, _ body: (WordDigest) -> Void) {
        guard set != 0 else {
            body(scope)
            return
        }
        for digest in options[set.trailingZeroBitCount].digests { forEachKey(set & (set - 1), scope + digest, body) }
    }

    /// Takes a set if it is cheaper: its keys have few other postings, and are few.
    mutating func offer(_ set: UInt32, postingCount: Int, keyCount: Int) {
        let offered =
            Double(postingCount) / Double(keyCount) + Self.furtherKeyCost * Double(keyCount - 1)
        // Of two that are as cheap now, more terms are likely to stay so.
        guard offered < cost || offered == cost && set.nonzeroBitCount > best.nonzeroBitCount else { return }
        best = set
        cost = offered
    }
}
