/// Some of the many subscribers of a predicate.
struct SubscriberNode: BitwiseCopyable {
    /// How many subscribers fit, so that a node has 128 bytes.
    static let capacity = 14
    /// In a slot of the row table, the mark of a node's number.
    static let mark: UInt32 = 1 << 31

    /// The first posting of the predicate.
    var posting: UInt32
    /// The older node; 0 if there is none.
    var next: UInt32
    /// The newer node; 0 if there is none.
    var previous: UInt32 = 0
    /// How many subscribers are in it.
    var count: UInt32 = 0
    /// Their rows, the first `count` of them.
    var rows = InlineArray<14, Int64>(repeating: 0)

    init(posting: UInt32, next: UInt32) {
        self.posting = posting
        self.next = next
    }

    /// Where a row is; nil if it is not in the node.
    func place(of row: Int64) -> Int? { (0..<Int(count)).first { rows[$0] == row } }
}
