internal import Prefetching

/// Finds numbers by hashes of 32 bits: open addressing in segments that split when they are full.
///
/// A table that doubles all at once would interrupt matching. Here (extendible hashing; Fagin and others, 1979) a
/// directory leads from the first bits of a hash to a segment of at most some thousand slots, so many that the
/// directory stays in the processor's nearest cache. A segment grows by a quarter at a time, which keeps the slots in
/// use, and splits in two beyond that. So an addition never moves more than a segment. A slot holds the whole hash
/// beside the number: growing needs no other table, and a miss ends in this one. Removing moves later slots back, so
/// there are no tombstones.
///
/// A table with many misses has a filter (Bloom, 1970; here in single words): two or three bits for each hash, eight
/// for each slot, so few that they stay in the processor's cache when the slots do not.
struct ProbeTable: ~Copyable {
    private struct Segment: BitwiseCopyable {
        var slots: UnsafeMutablePointer<UInt64>
        var capacity: UInt32
        var depth: UInt16
        var filterWords: UInt16
    }

    /// A search begins with the first slot of a line.
    private static var lineSlots: UInt32 { UInt32(IndexMemory.lineBytes / MemoryLayout<UInt64>.stride) }
    private static var capacityFirst: UInt32 { lineSlots }
    private static var capacityMaximum: UInt32 { 16_384 }
    /// Beyond this depth too few bits are left to tell slots apart, and segments grow instead.
    private static var depthMaximum: UInt16 { 16 }

    private let memory: IndexMemory
    private var directory: UnsafeMutablePointer<Segment>
    private var depth: UInt16 = 0
    /// How many of 256 slots may be in use: more is less memory, and longer searches.
    private let load: UInt32
    private let hasFilter: Bool
    private var wordCount: Int
    /// How many numbers there are.
    private(set) var count = 0
    /// The number of slots that additions and removals have read or moved so far: their cost, without a clock.
    private(set) var touchedSlots = 0

    /// Creates an empty table that fills its slots up to a share of 256.
    init(_ memory: IndexMemory, load: UInt32, hasFilter: Bool = false) {
        self.memory = memory
        self.load = load
        self.hasFilter = hasFilter
        directory = .allocate(capacity: 1)
        let segment = Self.segment(capacity: Self.capacityFirst, depth: 0, hasFilter, memory)
        directory.initialize(to: segment)
        wordCount = Self.wordCount(segment)
    }

    deinit {
        var directoryIndex = 0
        while directoryIndex < 1 << Int(depth) {
            Self.free(directory[directoryIndex], memory)
            directoryIndex = directoryIndices(directoryIndex).upperBound
        }
        directory.deallocate()
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int {
        wordCount * MemoryLayout<UInt64>.stride + MemoryLayout<Segment>.stride << Int(depth)
    }

    // MARK: - Finding

    @inline(__always)
    private func directoryIndex(_ hash: UInt32) -> Int { Int((UInt64(hash) &<< UInt64(depth)) >> 32) }

    @inline(__always)
    private static func home(_ hash: UInt32, _ segment: Segment) -> UInt32 {
        let lines = UInt64(segment.capacity / lineSlots)
        return UInt32(truncatingIfNeeded: (UInt64(hash &<< UInt32(segment.depth)) * lines) >> 32) * lineSlots
    }

    /// Whether a hash may be there; the filter excludes nearly all absent ones.
    @inline(__always)
    func mayHave(_ hash: UInt32) -> Bool {
        let segment = directory[directoryIndex(hash)]
        let bits = Self.filterBits(hash)
        return segment.slots[Self.filterOffset(hash, segment)] & bits == bits
    }

    @inline(__always)
    private static func filterBits(_ hash: UInt32) -> UInt64 {
        // The bits in the middle are nearly the same for all hashes of a word.
        1 &<< UInt64(hash) | 1 &<< UInt64(hash >> 6) | 1 &<< UInt64((hash &* 0x9E37_79B9) >> 26)
    }

    /// Words of the filter lie before the first line of slots and the counts.
    @inline(__always)
    private static func filterOffset(_ hash: UInt32, _ segment: Segment) -> Int {
        -2 - Int((UInt64(hash &<< UInt32(segment.depth)) * UInt64(segment.filterWords)) >> 32)
    }

    /// Prefetches the word of the filter for `mayHave`.
    @inline(__always)
    func prefetchFilter(_ hash: UInt32) {
        let segment = directory[directoryIndex(hash)]
        Prefetch.line(of: segment.slots + Self.filterOffset(hash, segment))
    }

    /// Asks for the slots of a hash, which `first` or a change will look at, and does not wait for them.
    @inline(__always)
    func prefetch(_ hash: UInt32) {
        let segment = directory[directoryIndex(hash)]
        Prefetch.line(of: segment.slots + Int(Self.home(hash, segment)))
    }

    /// The number under a hash; 0 if there is none.
    @inline(__always)
    func first(_ hash: UInt32) -> UInt32 {
        let segment = directory[directoryIndex(hash)]
        var index = Self.home(hash, segment)
        while true {
            let line = segment.slots + Int(index)
            // The position of a hash in its line is unpredictable, so it is found without branches.
            var found: UInt64 = 0
            for offset in (0..<Int(Self.lineSlots)).reversed() {
                let slot = line[offset]
                found = UInt32(truncatingIfNeeded: slot >> 32) == hash ? slot : found
            }
            if found != 0 { return UInt32(truncatingIfNeeded: found) }
            // A line is filled from its first slot on, because no search begins behind that.
            if line[Int(Self.lineSlots) - 1] == 0 { return 0 }
            index = index + Self.lineSlots == segment.capacity ? 0 : index + Self.lineSlots
        }
    }

    /// The number under a hash that is the right one; 0 if there is none.
    @inline(__always)
    func first(_ hash: UInt32, where isRight: (UInt32) -> Bool) -> UInt32 {
        let segment = directory[directoryIndex(hash)]
        var index = Self.home(hash, segment)
        while true {
            let slot = segment.slots[Int(index)]
            if slot == 0 { return 0 }
            if UInt32(truncatingIfNeeded: slot >> 32) == hash, isRight(UInt32(truncatingIfNeeded: slot)) {
                return UInt32(truncatingIfNeeded: slot)
            }
            index = index + 1 == segment.capacity ? 0 : index + 1
        }
    }

    // MARK: - Changing

    /// Adds a number, which is not 0, under a hash, beside existing ones.
    mutating func add(_ hash: UInt32, _ number: UInt32) {
        var directoryIndex = directoryIndex(hash)
        while (counts(directoryIndex).used + 1) << 8 > directory[directoryIndex].capacity * load {
            grow(directoryIndex)
            directoryIndex = self.directoryIndex(hash)
        }
        put(UInt64(hash) << 32 | UInt64(number), into: directory[directoryIndex])
        var counts = counts(directoryIndex)
        counts.used += 1
        setCounts(directoryIndex, counts)
        count += 1
    }

    /// Replaces a number under a hash with another.
    mutating func replace(_ hash: UInt32, _ number: UInt32, by other: UInt32) {
        guard let slot = slot(hash, number) else { return }
        directory[directoryIndex(hash)].slots[Int(slot)] = UInt64(hash) << 32 | UInt64(other)
    }

    /// Removes a number.
    mutating func remove(_ hash: UInt32, _ number: UInt32) {
        guard var hole = slot(hash, number) else { return }
        let directoryIndex = directoryIndex(hash)
        let segment = directory[directoryIndex]
        var index = hole
        while true {
            index = index + 1 == segment.capacity ? 0 : index + 1
            touchedSlots += 1
            let slot = segment.slots[Int(index)]
            guard slot != 0 else { break }
            let home = Self.home(UInt32(truncatingIfNeeded: slot >> 32), segment)
            let fromHome = index >= home ? index - home : index + segment.capacity - home
            let fromHole = index >= hole ? index - hole : index + segment.capacity - hole
            guard fromHome >= fromHole else { continue }
            segment.slots[Int(hole)] = slot
            hole = index
        }
        segment.slots[Int(hole)] = 0
        var counts = counts(directoryIndex)
        counts.used -= 1
        counts.removed += 1
        setCounts(directoryIndex, counts)
        count -= 1
        tidy(directoryIndex)
    }

    private mutating func slot(_ hash: UInt32, _ number: UInt32) -> UInt32? {
        let segment = directory[directoryIndex(hash)]
        let wanted = UInt64(hash) << 32 | UInt64(number)
        var index = Self.home(hash, segment)
        while true {
            touchedSlots += 1
            let slot = segment.slots[Int(index)]
            if slot == wanted { return index }
            if slot == 0 { return nil }
            index = index + 1 == segment.capacity ? 0 : index + 1
        }
    }

    private mutating func put(_ slot: UInt64, into segment: Segment) {
        var index = Self.home(UInt32(truncatingIfNeeded: slot >> 32), segment)
        while segment.slots[Int(index)] != 0 {
            touchedSlots += 1
            index = index + 1 == segment.capacity ? 0 : index + 1
        }
        segment.slots[Int(index)] = slot
        touchedSlots += 1
        guard hasFilter else { return }
        let hash = UInt32(truncatingIfNeeded: slot >> 32)
        segment.slots[Self.filterOffset(hash, segment)] |= Self.filterBits(hash)
    }

    // MARK: - Segments

    /// How many slots are in use, and how many hashes were removed that the filter still has.
    private struct Counts {
        var used: UInt32
        var removed: UInt32 = 0
    }

    private static func wordCount(_ segment: Segment) -> Int {
        wordsBeforeSlots(segment.filterWords) + Int(segment.capacity)
    }

    /// The filter and the counts, so much that slots begin with a line.
    private static func wordsBeforeSlots(_ filterWords: UInt16) -> Int {
        (Int(filterWords) + 1 + Int(lineSlots) - 1) / Int(lineSlots) * Int(lineSlots)
    }

    /// An empty segment: its filter, its counts, its slots.
    private static func segment(
        capacity: UInt32, depth: UInt16, _ hasFilter: Bool, _ memory: IndexMemory
    ) -> Segment {
        let capacity = (capacity + lineSlots - 1) / lineSlots * lineSlots
        let filterWords = hasFilter ? UInt16(capacity / 8) : 0
        let before = wordsBeforeSlots(filterWords)
        let wordCount = before + Int(capacity)
        let words = memory.allocate(UInt64.self, count: wordCount)
        words.initialize(repeating: 0, count: wordCount)
        return Segment(slots: words + before, capacity: capacity, depth: depth, filterWords: filterWords)
    }

    private static func free(_ segment: Segment, _ memory: IndexMemory) {
        memory.deallocate(segment.slots - wordsBeforeSlots(segment.filterWords), count: wordCount(segment))
    }

    private func counts(_ directoryIndex: Int) -> Counts {
        let word = directory[directoryIndex].slots[-1]
        return Counts(used: UInt32(truncatingIfNeeded: word), removed: UInt32(truncatingIfNeeded: word >> 32))
    }

    private func setCounts(_ directoryIndex: Int, _ counts: Counts) {
        directory[directoryIndex].slots[-1] = UInt64(counts.removed) << 32 | UInt64(counts.used)
    }

    /// The indices of all directory entries that lead to the same segment as this one.
    private func directoryIndices(_ directoryIndex: Int) -> Range<Int> {
        let width = 1 << (Int(depth) - Int(directory[directoryIndex].depth))
        let start = directoryIndex & ~(width - 1)
        return start..<start + width
    }

    private mutating func grow(_ directoryIndex: Int) {
        let segment = directory[directoryIndex]
        let larger = segment.capacity + max(segment.capacity / 4, Self.capacityFirst)
        if larger <= Self.capacityMaximum || segment.depth == Self.depthMaximum {
            resize(directoryIndex, capacity: larger)
        } else {
            split(directoryIndex)
        }
    }

    /// Shrinks a segment with few used slots, and rebuilds a filter that is too full.
    private mutating func tidy(_ directoryIndex: Int) {
        let capacity = directory[directoryIndex].capacity
        let counts = counts(directoryIndex)
        if capacity >= 8 * Self.capacityFirst, counts.used < capacity / 4 {
            resize(directoryIndex, capacity: capacity / 2)
        } else if hasFilter, counts.removed > capacity / 4 {
            resize(directoryIndex, capacity: capacity)
        }
    }

    private mutating func resize(_ directoryIndex: Int, capacity: UInt32) {
        let old = directory[directoryIndex]
        let counts = Counts(used: counts(directoryIndex).used)
        replace(directoryIndex, by: Self.segment(capacity: capacity, depth: old.depth, hasFilter, memory))
        for index in 0..<Int(old.capacity) where old.slots[index] != 0 {
            put(old.slots[index], into: directory[directoryIndex])
        }
        setCounts(directoryIndex, counts)
        Self.free(old, memory)
    }

    /// Replaces a segment in all directory entries that lead to it.
    private mutating func replace(_ directoryIndex: Int, by new: Segment) {
        wordCount += Self.wordCount(new) - Self.wordCount(directory[directoryIndex])
        for directoryIndex in directoryIndices(directoryIndex) { directory[directoryIndex] = new }
    }

    private mutating func split(_ directoryIndex: Int) {
        let old = directory[directoryIndex]
        var directoryIndex = directoryIndex
        if old.depth == depth {
            doubleDirectory()
            directoryIndex *= 2
        }
        let bit = UInt64(1) << UInt64(63 - old.depth)
        var upper = Counts(used: 0)
        for index in 0..<Int(old.capacity) where old.slots[index] & bit != 0 { upper.used += 1 }
        let lower = Counts(used: counts(directoryIndex).used - upper.used)
        let indices = directoryIndices(directoryIndex)
        let middle = (indices.lowerBound + indices.upperBound) / 2
        let halves = [lower, upper].map { counts in
            Self.segment(capacity: capacity(for: counts.used), depth: old.depth + 1, hasFilter, memory)
        }
        for directoryIndex in indices { directory[directoryIndex] = halves[directoryIndex < middle ? 0 : 1] }
        wordCount += Self.wordCount(halves[0]) + Self.wordCount(halves[1]) - Self.wordCount(old)
        for index in 0..<Int(old.capacity) where old.slots[index] != 0 {
            put(old.slots[index], into: halves[old.slots[index] & bit == 0 ? 0 : 1])
        }
        setCounts(indices.lowerBound, lower)
        setCounts(middle, upper)
        Self.free(old, memory)
    }

    /// The slots of a new segment: room for an eighth more than it begins with.
    private func capacity(for count: UInt32) -> UInt32 {
        max(Self.capacityFirst, (count + count / 8 + 1) << 8 / load + 1)
    }

    private mutating func doubleDirectory() {
        let larger = UnsafeMutablePointer<Segment>.allocate(capacity: 2 << Int(depth))
        for directoryIndex in 0..<1 << Int(depth) {
            (larger + 2 * directoryIndex).initialize(repeating: directory[directoryIndex], count: 2)
        }
        directory.deallocate()
        directory = larger
        depth += 1
    }
}
