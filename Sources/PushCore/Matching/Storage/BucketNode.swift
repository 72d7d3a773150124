/// Some of the postings with the same bits in the key table.
///
/// They come with bits of what each must be equal to, and with the fields that make it so beside those of the key: most
/// are passed over without a look at anything else. A bucket can be long where many predicates share the fields that
/// they are found by. Nodes grow with the bucket; all but the first are full.
///
///     word  0      the next node; 0 if there is none
///     word  1      the node before; 0 if there is none
///     word  2      how many entries there are
///     word  3      how many fit
///     …            the entries: posting; operations, and a shape or the places of members; bits
struct BucketNode {
    /// A posting in a node.
    struct Entry: BitwiseCopyable {
        /// How many fields a proof shape can have beside the key to be told by their places.
        static let membersMaximum = 4
        /// The places of no members at all.
        static let noMembers: UInt32 = 0xFF_FFFF

        var posting: UInt32
        var operations: UInt8
        /// Whether `proof` is the proof shape, for want of places, and not places of six bits each.
        var isShape = false
        /// The places of the members, `ScopeMember.nobody` for the rest; or the proof shape.
        var proof: UInt32
        /// Bits of the sum of the proof shape.
        var check: UInt32
    }

    /// In a slot of the key table, the mark of a node's address.
    static let mark: UInt32 = 1 << 31
    private static let headerWords = 4
    private static let entryWords = 3
    private static let operations: UInt32 = 0b0111_1111
    private static let isShape: UInt32 = 0b1000_0000
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
                posting: entry[0], operations: UInt8(entry[1] & Self.operations), isShape: entry[1] & Self.isShape != 0,
                proof: entry[1] >> 8, check: entry[2])
        }
        nonmutating set {
            let entry = words + Self.headerWords + place * Self.entryWords
            entry[0] = newValue.posting
            entry[1] = newValue.proof << 8 | UInt32(newValue.operations) | (newValue.isShape ? Self.isShape : 0)
            entry[2] = newValue.check
        }
    }

    /// How many entries the node fits that comes in front of one with this capacity.
    static func capacity(after capacity: Int) -> Int { capacities.first { $0 > capacity } ?? capacity }

    /// How many words a node takes.
    static func wordCount(capacity: Int) -> Int { headerWords + capacity * entryWords }
}
