/// Remembers a value for each of many keys, in memory of a bounded size; the oldest entries are replaced first.
///
/// Keys are digests under a secret seed, so that two keys collide only with a chance of 2^-128. The table is divided
/// into sets of sixteen slots; a key belongs to one set, and replaces the oldest entry there. Sets of so many are
/// nearly never full before three in ten slots of all are in use (with four slots some are when one in ten is). Then
/// the table doubles, up to its largest size. In steady state nothing is allocated, hashed again or counted by
/// reference.
///
/// A set has a byte of each key's digest in two words, so that a look for an unknown key reads one line of memory, and
/// its slots in the order of their age in another word.
public struct DigestCache<Value: BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var digest: WordDigest
        @usableFromInline var value: Value

        @inlinable
        init(digest: WordDigest, value: Value) {
            self.digest = digest
            self.value = value
        }
    }

    /// The part of a set that a look-up reads first.
    @usableFromInline
    struct SetHead: Sendable {
        /// One tag for each slot, the first slot in the lowest byte of the first word; 0 for a free slot.
        @usableFromInline var tags: (UInt64, UInt64) = (0, 0)
        /// The slots from the newest entry to the oldest, four bits each, the newest in the lowest bits.
        @usableFromInline var ages = 0xFEDC_BA98_7654_3210 as UInt64

        @inlinable
        init() {}

        /// Gives a slot a tag.
        @inlinable
        mutating func setTag(_ tag: UInt8, slot: Int) {
            let shift = UInt64(slot & 7) * 8
            if slot < 8 {
                tags.0 = tags.0 & ~(0xFF << shift) | UInt64(tag) << shift
            } else {
                tags.1 = tags.1 & ~(0xFF << shift) | UInt64(tag) << shift
            }
        }

        /// Makes a slot the one at a position in the order of age.
        @inlinable
        mutating func move(_ slot: Int, to position: Int) {
            var order = ages
            var from = 0
            while Int(order & 15) != slot {
                order >>= 4
                from += 1
            }
            let without = Self.low(ages, from) | (Self.high(ages, from + 1) >> 4)
            ages =
                Self.low(without, position) | UInt64(slot) << UInt64(4 * position) | Self.high(without, position) << 4
        }

        /// The first slots of an order.
        @inlinable
        static func low(_ order: UInt64, _ count: Int) -> UInt64 { order & ((1 << UInt64(4 * count)) &- 1) }

        /// The other slots of an order.
        @inlinable
        static func high(_ order: UInt64, _ count: Int) -> UInt64 { order & ~((1 << UInt64(4 * count)) &- 1) }
    }

    /// How many slots a set has, at most 16.
    @usableFromInline let ways: Int
    @usableFromInline let setsMaximum: Int
    @usableFromInline var setMask: UInt64
    @usableFromInline var heads: [SetHead]
    @usableFromInline var entries: [Entry?]

    /// How many sets there are at first.
    @usableFromInline static var setsAtFirst: Int { 64 }

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: how many entries fit when it is as large as it gets; a power of two.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity > 0 && capacity.nonzeroBitCount == 1, "a power of two makes the sets equal")
        ways = min(16, capacity)
        setsMaximum = capacity / ways
        let sets = min(setsMaximum, Self.setsAtFirst)
        setMask = UInt64(sets - 1)
        heads = Array(repeating: SetHead(), count: sets)
        entries = Array(repeating: nil, count: sets * ways)
    }

    /// Doubles the sets: the entries of each are divided among two by one more bit of their digests.
    @inlinable
    mutating func grow() {
        let (oldHeads, oldEntries) = (heads, entries)
        let sets = 2 * oldHeads.count
        setMask = UInt64(sets - 1)
        heads = Array(repeating: SetHead(), count: sets)
        entries = Array(repeating: nil, count: sets * ways)
        for (set, head) in oldHeads.enumerated() {
            // From the oldest to the newest, so that each comes in as the newest.
            for position in (0..<ways).reversed() {
                let slot = Int(head.ages >> UInt64(4 * position) & 15)
                if let entry = oldEntries[set * ways + slot] { self.set(entry.value, for: entry.digest) }
            }
        }
    }

    @inlinable
    func set(of digest: WordDigest) -> Int { Int(digest.high & setMask) }

    /// The byte of a digest that stands for it in its set; not 0.
    @inlinable
    static func tag(_ digest: WordDigest) -> UInt8 { max(1, UInt8(truncatingIfNeeded: digest.low >> 56)) }

    /// The slot of a key in its set; nil if it is not known.
    @inlinable
    func slot(of digest: WordDigest, in set: Int) -> Int? {
        let tags = heads[set].tags
        let tag = Self.tag(digest)
        return slot(of: digest, tag, in: tags.0, from: set * ways)
            ?? slot(of: digest, tag, in: tags.1, from: set * ways, 8)
    }

    @inlinable
    func slot(of digest: WordDigest, _ tag: UInt8, in tags: UInt64, from start: Int, _ offset: Int = 0) -> Int? {
        let ones = 0x0101_0101_0101_0101 as UInt64
        let differences = tags ^ (ones &* UInt64(tag))
        // The top bit of each byte that is zero, and sometimes of one after it, which only costs a look at the entry.
        var found = (differences &- ones) & ~differences & (ones << 7)
        while found != 0 {
            let slot = offset + found.trailingZeroBitCount / 8
            if slot < ways, entries[start + slot]?.digest == digest { return slot }
            found &= found &- 1
        }
        return nil
    }

    /// The value of a key, unless it was forgotten.
    @inlinable
    public subscript(digest: WordDigest) -> Value? {
        let set = set(of: digest)
        guard let slot = slot(of: digest, in: set) else { return nil }
        return entries[set * ways + slot]?.value
    }

    /// Remembers a value, as the newest entry.
    @inlinable
    public mutating func set(_ value: Value, for digest: WordDigest) {
        let set = set(of: digest)
        let oldest = Int(heads[set].ages >> UInt64(4 * (ways - 1)) & 15)
        let known = slot(of: digest, in: set)
        if known == nil, heads.count < setsMaximum, entries[set * ways + oldest] != nil {
            grow()
            return self.set(value, for: digest)
        }
        let slot = known ?? oldest
        heads[set].setTag(Self.tag(digest), slot: slot)
        heads[set].move(slot, to: 0)
        entries[set * ways + slot] = Entry(digest: digest, value: value)
    }

    /// Forgets a key, whose slot is the next to be used.
    @inlinable
    public mutating func remove(_ digest: WordDigest) {
        let set = set(of: digest)
        guard let slot = slot(of: digest, in: set) else { return }
        heads[set].setTag(0, slot: slot)
        heads[set].move(slot, to: ways - 1)
        entries[set * ways + slot] = nil
    }
}
