/// The postings and their places: two arrays; matching reads only the first.
struct PostingStore: ~Copyable {
    private var postings: ChunkedArray<Posting>
    private var locations: ChunkedArray<PostingLocation>

    init(_ memory: IndexMemory) {
        postings = ChunkedArray(memory, chunkShift: 12)
        locations = ChunkedArray(memory, chunkShift: 12)
    }

    /// How many postings there are.
    var count: Int { postings.count }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { postings.memoryBytes + locations.memoryBytes }

    /// The posting with a number.
    subscript(number: UInt32) -> Posting {
        @inline(__always) get { postings[number] }
        @inline(__always) nonmutating set { postings[number] = newValue }
    }

    /// Where a posting lies, for as long as the store lives.
    @inline(__always)
    func pointer(_ number: UInt32) -> UnsafeMutablePointer<Posting> { postings.pointer(number) }

    /// Where the location of a posting is kept, for as long as the store lives.
    @inline(__always)
    func location(of number: UInt32) -> UnsafeMutablePointer<PostingLocation> { locations.pointer(number) }

    /// Prefetches the memory of a posting.
    @inline(__always)
    func prefetch(_ number: UInt32) { postings.prefetch(number) }

    /// Prefetches the memory of a posting's place.
    @inline(__always)
    func prefetchLocation(of number: UInt32) { locations.prefetch(number) }

    /// Adds a posting, which has no location yet, and returns its number.
    mutating func add(_ posting: Posting) -> UInt32 {
        let number = postings.add(posting)
        // Both arrays give the same numbers: they are added to and removed from together.
        let location = locations.add(PostingLocation())
        assert(location == number)
        return number
    }

    /// Removes a posting; its number will be given again.
    mutating func remove(_ number: UInt32) {
        postings.remove(number)
        locations.remove(number)
    }
}

/// One key under which a predicate is found.
///
/// A predicate has a posting for each key of each of its conjunctions; the first of them stands for the predicate
/// itself. Matching reads only postings. A posting has 32 bytes, so that it never spans two cache lines; data that only
/// changes of the index need are in a `PostingLocation`.
struct Posting: BitwiseCopyable {
    /// Bits of `proofShapeAndFlags`.
    private enum Flag {
        static let operations: UInt32 = 0b0000_0111
        static let isFurther: UInt32 = 0b0000_1000
        static let isFound: UInt32 = 0b0001_0000
        static let isOneSum: UInt32 = 0b0010_0000
        static let isInTable: UInt32 = 0b0100_0000
        static let hasList: UInt32 = 0b1000_0000
    }

    /// With `middle`, 96 bits of the key, or, for a predicate that is one sum of digests, of that sum.
    var low: UInt64 = 0
    var middle: UInt32 = 0
    private var keyShapeAndLevel: UInt32 = 0
    private var proofShapeAndFlags: UInt32 = 0
    /// The block of the predicate, or, in a further posting, the residual of its conjunction; 0 if there is none.
    var block: UInt32 = 0
    /// The only subscriber of a first posting that has no list; in all others, `link`.
    var row: Int64 = 0

    /// The newest node of a first posting's list of subscribers; a further posting's first posting.
    var link: UInt32 {
        get { UInt32(truncatingIfNeeded: row) }
        set { row = Int64(newValue) }
    }

    /// The shape that the key is made by.
    var keyShape: UInt32 {
        get { keyShapeAndLevel >> 8 }
        set { keyShapeAndLevel = newValue << 8 | keyShapeAndLevel & 0xFF }
    }

    /// The level of the key's part that has levels.
    var level: Int {
        get { Int(keyShapeAndLevel & 0xFF) }
        set { keyShapeAndLevel = keyShapeAndLevel & ~0xFF | UInt32(newValue) }
    }

    /// The shape whose sum must be equal to the 96 bits.
    var proofShape: UInt32 {
        get { proofShapeAndFlags >> 8 }
        set { proofShapeAndFlags = newValue << 8 | proofShapeAndFlags & 0xFF }
    }

    /// The operations for which the predicate's subscribers are notified.
    var operations: UInt8 {
        get { UInt8(proofShapeAndFlags & Flag.operations) }
        set { proofShapeAndFlags = proofShapeAndFlags & ~Flag.operations | UInt32(newValue) & Flag.operations }
    }

    /// Whether this is not the first posting of its predicate.
    var isFurther: Bool {
        get { has(Flag.isFurther) }
        set { set(Flag.isFurther, newValue) }
    }

    /// Whether the change that is being matched has found the predicate; only in the first posting.
    var isFound: Bool {
        get { has(Flag.isFound) }
        set { set(Flag.isFound, newValue) }
    }

    /// Whether the sum of the proof shape is all that there is to test.
    var isOneSum: Bool {
        get { has(Flag.isOneSum) }
        set { set(Flag.isOneSum, newValue) }
    }

    /// Whether it can be found: a predicate that nothing satisfies has no key.
    var isInTable: Bool {
        get { has(Flag.isInTable) }
        set { set(Flag.isInTable, newValue) }
    }

    /// Whether there is a list of subscribers rather than one.
    var hasList: Bool {
        get { has(Flag.hasList) }
        set { set(Flag.hasList, newValue) }
    }

    private func has(_ flag: UInt32) -> Bool { proofShapeAndFlags & flag != 0 }

    private mutating func set(_ flag: UInt32, _ isSet: Bool) {
        proofShapeAndFlags = isSet ? proofShapeAndFlags | flag : proofShapeAndFlags & ~flag
    }
}

/// Where a posting is found by its key.
struct PostingLocation: BitwiseCopyable {
    /// The key's bits in the table.
    var tableHash: UInt32 = 0
    /// The node that lists it among the postings with the same bits in the table; 0 if there is no other.
    var node: UInt32 = 0
}
