/// The changes that are searched together.
struct MatchTurns: ~Copyable {
    /// How many changes are searched together at most.
    ///
    /// Measured: four wait for too little memory at a time, and sixteen for no more than eight.
    static let count = 8

    /// Where they lie.
    let turns: UnsafeMutablePointer<MatchTurn>

    init(_ hashes: ValueDigests) {
        turns = .allocate(capacity: Self.count)
        for place in 0..<Self.count { (turns + place).initialize(to: MatchTurn(hashes)) }
    }

    deinit {
        turns.deinitialize(count: Self.count)
        turns.deallocate()
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { (0..<Self.count).reduce(0) { $0 + turns[$1].memoryBytes } }
}
