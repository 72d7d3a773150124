/// Some of the postings with the same bits in the key table.
///
/// They come with bits of what each must be equal to, and with the fields that make it so beside those of the key: most
/// are passed over without a look at anything else. A bucket can be long where many predicates share the fields that
/// they are found by. A bucket is one node, whose memory is contiguous, and which grows and shrinks with it. Beyond the
/// largest size it is a list of nodes, all full except the first.
///
///     word  0      the next node; 0 if there is none
///     word  1      how many entries there are, and how many fit, 16 bits each
///     …            the entries: posting; operations, and a shape or the indices of members; bits
///
/// Two entries fill half a line of memory, and four a line: most buckets are no longer.
struct BucketNode {
    /// A posting in a node.
    struct Entry: BitwiseCopyable {
        /// How many fields a proof shape can have beside the key for the node to keep their indices.
        static let membersMaximum = 4
        /// The member indices of an empty set.
        static let noMembers: UInt32 = 0xFF_FFFF

        var posting: UInt32
        var operations: UInt8
        /// Whether `proof` is the proof shape; else it has member indices of six bits each.
        var isShape = false
        /// The indices of the members, `ScopeMember.unusedIndex` for the rest; or the proof shape.
        var proof: UInt32
        /// Bits of the sum of the proof shape.
        var check: UInt32
    }

    /// In a slot of the key table, the mark of a node: the rest is its address, and how many lines are worth asking
    /// for.
    static let mark: UInt32 = 1 << 31
    /// The bits of the lines: nodes begin with half a line, so that these bits of their addresses are 0.
    private static let linesMask: UInt32 = 0b111
    /// How many lines are asked for at most; the processor finds the rest itself.
    static let linesMaximum = 8
    private static let headerWords = 2
    private static let entryWords = 3
    private static let operations: UInt32 = 0b0111_1111
    private static let isShape: UInt32 = 0b1000_0000
    /// Sizes that fill whole half lines, each about half as large again as the one before.
    private static let capacities = [2, 4, 7, 10, 15, 20, 31, 42, 63, 84]
    /// How many entries a new node fits.
    static let firstCapacity = capacities[0]

    let words: UnsafeMutablePointer<UInt32>

    var next: UInt32 {
        get { words[0] }
        nonmutating set { words[0] = newValue }
    }
    var count: Int {
        get { Int(words[1] & 0xFFFF) }
        nonmutating set { words[1] = words[1] & ~0xFFFF | UInt32(newValue) }
    }
    var capacity: Int { Int(words[1] >> 16) }

    /// Makes it an empty one.
    func begin(capacity: Int, next: UInt32) {
        words[0] = next
        words[1] = UInt32(capacity) << 16
    }

    /// The entry at an index.
    subscript(index: Int) -> Entry {
        @inline(__always) get {
            let entry = words + Self.headerWords + index * Self.entryWords
            return Entry(
                posting: entry[0], operations: UInt8(entry[1] & Self.operations), isShape: entry[1] & Self.isShape != 0,
                proof: entry[1] >> 8, check: entry[2])
        }
        nonmutating set {
            let entry = words + Self.headerWords + index * Self.entryWords
            entry[0] = newValue.posting
            entry[1] = newValue.proof << 8 | UInt32(newValue.operations) | (newValue.isShape ? Self.isShape : 0)
            entry[2] = newValue.check
        }
    }

    /// The key table's slot for a node.
    static func reference(_ address: UInt32, capacity: Int) -> UInt32 {
        let lines = (wordCount(capacity: capacity) + BlockStore.lineWords - 1) / BlockStore.lineWords
        return address | mark | UInt32(min(lines, linesMaximum) - 1)
    }

    /// The address of a node, from its slot.
    @inline(__always)
    static func address(_ reference: UInt32) -> UInt32 { reference & ~(mark | linesMask) }

    /// How many lines of a node are worth asking for before it is looked at.
    @inline(__always)
    static func lineCount(_ reference: UInt32) -> Int { Int(reference & linesMask) + 1 }

    /// How many entries fit into the smallest node for a count; nil if there is none so large.
    static func capacity(for count: Int) -> Int? { capacities.first { $0 >= count } }

    /// How many words a node takes: whole half lines.
    static func wordCount(capacity: Int) -> Int {
        let unit = BlockStore.lineWords / 2
        return (headerWords + capacity * entryWords + unit - 1) / unit * unit
    }
}
