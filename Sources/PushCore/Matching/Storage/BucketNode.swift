/// Some of the postings with the same bits in the key table.
///
/// They come with bits of what each must be equal to, so that most are passed over without a look at them; a bucket can
/// be long where many predicates share the fields that they are found by. Nodes grow with the bucket; all but the first
/// are full.
///
///     word  0      the next node; 0 if there is none
///     word  1      the node before; 0 if there is none
///     word  2      how many entries there are
///     word  3      how many fit
///     …            the entries: posting, shape and operations, bits
struct BucketNode {
    /// A posting in a node.
    struct Entry: BitwiseCopyable {
        var posting: UInt32
        var proofShape: UInt32
        var operations: UInt8
        /// Bits of the sum of the proof shape.
        var check: UInt32
    }

    /// In a slot of the key table, the mark of a node's address.
    static let mark: UInt32 = 1 << 31
    private static let headerWords = 4
    private static let entryWords = 3
    /// Sizes that fill blocks well.
    private static let capacities = [4, 10, 20, 41]

    let words: UnsafeMutablePointer<UInt32>

    var next: UInt32 {
        get { words[0] }
        nonmutating set { words[0] = newValue }
    }
    var previous: UInt32 {
        get { words[1] }
        nonmutating set { words[1] = newValue }
    }
    var count: Int {
        get { Int(words[2]) }
        nonmutating set { words[2] = UInt32(newValue) }
    }
    var capacity: Int {
        get { Int(words[3]) }
        nonmutating set { words[3] = UInt32(newValue) }
    }

    /// The entry at a place.
    subscript(place: Int) -> Entry {
        @inline(__always) get {
            let entry = words + Self.headerWords + place * Self.entryWords
            return Entry(
                posting: entry[0], proofShape: entry[1] >> 8, operations: UInt8(truncatingIfNeeded: entry[1]),
                check: entry[2])
        }
        nonmutating set {
            let entry = words + Self.headerWords + place * Self.entryWords
            entry[0] = newValue.posting
            entry[1] = newValue.proofShape << 8 | UInt32(newValue.operations)
            entry[2] = newValue.check
        }
    }

    /// How many entries the node fits that comes in front of one with this capacity.
    static func capacity(after capacity: Int) -> Int { capacities.first { $0 > capacity } ?? capacity }

    /// How many words a node takes.
    static func wordCount(capacity: Int) -> Int { headerWords + capacity * entryWords }
}
