/// How many keys a dimension has at each level.
struct LevelCounts: BitwiseCopyable {
    private var counts = InlineArray<64, UInt32>(repeating: 0)

    /// Counts a key; tells whether it is the first of its level.
    mutating func add(_ level: Int) -> Bool {
        counts[level] += 1
        return counts[level] == 1
    }

    /// Counts a key no more; tells whether it was the last of its level.
    mutating func remove(_ level: Int) -> Bool {
        counts[level] -= 1
        return counts[level] == 0
    }
}
