/// Some of the options of a conjunction, by their places; those beyond the 32nd are never among them.
///
/// A sequence that is its own iterator: `next` takes the first out.
struct KeyOptionSet: BitwiseCopyable, Sequence, IteratorProtocol, Equatable {
    private var bits: UInt32

    /// No option.
    init() { bits = 0 }

    /// The option at a place.
    init(_ place: Int) { bits = 1 << UInt32(place) }

    /// The first options of a conjunction.
    init(firstOf count: Int) { bits = count < UInt32.bitWidth ? 1 << UInt32(count) - 1 : .max }

    /// How many options are in the set.
    var count: Int { bits.nonzeroBitCount }
    /// Whether there is none.
    var isEmpty: Bool { bits == 0 }

    /// Whether an option is in the set.
    func contains(_ place: Int) -> Bool { bits >> UInt32(place) & 1 == 1 }

    /// The options of both sets.
    static func + (left: KeyOptionSet, right: KeyOptionSet) -> KeyOptionSet {
        var both = left
        both.bits |= right.bits
        return both
    }

    /// Takes the first option out.
    mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
    }
}
