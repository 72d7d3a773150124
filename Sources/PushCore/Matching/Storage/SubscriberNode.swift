/// Some of the many subscribers of a predicate.
struct SubscriberNode: BitwiseCopyable {
    /// How many subscribers fit, so that a node has 128 bytes.
    static let capacity = 28

    /// The first posting of the predicate.
    var posting: UInt32
    /// The older node; 0 if there is none.
    var next: UInt32
    /// The newer node; 0 if there is none.
    var previous: UInt32 = 0
    /// How many subscribers are in it.
    var count: UInt32 = 0
    /// The subscribers, the first `count` of them.
    var members = InlineArray<28, UInt32>(repeating: 0)
}
