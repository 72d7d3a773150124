/// One key under which a predicate is found.
///
/// A predicate has a posting for each key of each of its conjunctions; the first of them stands for the predicate
/// itself. It is what matching reads, and has 32 bytes, so that it never lies on two lines of the processor's cache;
/// what only changes of the index need is a `PostingPlace`.
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

    /// The changes that the predicate's subscribers hear of.
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
