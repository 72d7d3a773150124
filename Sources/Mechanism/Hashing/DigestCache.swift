/// Remembers a value for each of many keys, in memory of a fixed size; the oldest entries are replaced first.
///
/// Keys are digests under a secret seed, so that two keys collide only with a chance of 2^-128. The table is divided
/// into sets of sixteen places; a key belongs to one set, and replaces the oldest entry there. Sets of so many are
/// nearly never full before three in ten places of all are in use (with four places some are when one in ten is). In
/// steady state nothing is allocated, hashed again or counted by reference.
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

    /// How many slots a set has.
    @usableFromInline let ways: Int
    @usableFromInline let setMask: UInt64
    @usableFromInline var entries: [Entry?]

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: how many entries fit; a power of two.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity > 0 && capacity.nonzeroBitCount == 1, "a power of two makes the sets equal")
        ways = min(16, capacity)
        setMask = UInt64(capacity / ways - 1)
        entries = Array(repeating: nil, count: capacity)
    }

    @inlinable
    func start(_ digest: WordDigest) -> Int { Int(digest.high & setMask) * ways }

    @inlinable
    func slot(of digest: WordDigest) -> Int? {
        let start = start(digest)
        var slot = start
        while slot < start + ways {
            if entries[slot]?.digest == digest { return slot }
            slot += 1
        }
        return nil
    }

    /// The value of a key, unless it was forgotten.
    @inlinable
    public subscript(digest: WordDigest) -> Value? {
        guard let slot = slot(of: digest) else { return nil }
        return entries[slot]?.value
    }

    /// Remembers a value, as the newest entry.
    @inlinable
    public mutating func set(_ value: Value, for digest: WordDigest) {
        let start = start(digest)
        var slot = slot(of: digest) ?? start + ways - 1
        while slot > start {
            entries[slot] = entries[slot - 1]
            slot -= 1
        }
        entries[start] = Entry(digest: digest, value: value)
    }

    /// Forgets a key.
    @inlinable
    public mutating func remove(_ digest: WordDigest) {
        guard let slot = slot(of: digest) else { return }
        entries[slot] = nil
    }
}
