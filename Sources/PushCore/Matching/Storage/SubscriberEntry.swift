/// A row of the registry, and the predicate it subscribes with.
struct SubscriberEntry: BitwiseCopyable {
    private var rowLow: UInt32
    private var rowHigh: UInt32
    private var owner: UInt32

    /// A row that is the only subscriber of a predicate.
    init(row: Int64, posting: UInt32) {
        let bits = UInt64(bitPattern: row)
        rowLow = UInt32(truncatingIfNeeded: bits)
        rowHigh = UInt32(truncatingIfNeeded: bits >> 32)
        owner = posting
    }

    /// The row, in two halves so that an entry takes 12 bytes.
    var row: Int64 { Int64(bitPattern: UInt64(rowHigh) << 32 | UInt64(rowLow)) }

    /// The node of the list that it is in; nil if it is the only one.
    var node: UInt32? {
        get { owner >> 31 == 1 ? owner & ~(1 << 31) : nil }
        set { if let newValue { owner = newValue | 1 << 31 } }
    }

    /// The first posting of the predicate, if this is its only subscriber.
    var posting: UInt32 {
        get { owner }
        set { owner = newValue }
    }
}
