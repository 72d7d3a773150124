/// Remembers a value for each of many keys, in memory of a fixed size: what was written longest ago is forgotten first.
///
/// Keys are digests under a secret seed, so that two keys are never taken for one but by a chance of 2^-128. The table
/// is divided into sets of four places; a key belongs to one set, and pushes out the oldest entry there. In steady
/// state nothing is allocated, hashed again or counted by reference.
struct DigestCache<Value: BitwiseCopyable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var digest: WordDigest
        var value: Value
    }

    private static var ways: Int { 4 }

    private let setMask: UInt64
    private var entries: [Entry?]

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: how many entries fit; a power of two, four at least.
    init(capacity: Int) {
        precondition(capacity >= Self.ways && capacity.nonzeroBitCount == 1, "a power of two makes the sets equal")
        setMask = UInt64(capacity / Self.ways - 1)
        entries = Array(repeating: nil, count: capacity)
    }

    private func start(_ digest: WordDigest) -> Int { Int(digest.high & setMask) * Self.ways }

    private func place(_ digest: WordDigest) -> Int? {
        let start = start(digest)
        return (start..<start + Self.ways).first { entries[$0]?.digest == digest }
    }

    /// The value of a key, unless it was forgotten.
    subscript(digest: WordDigest) -> Value? {
        guard let place = place(digest) else { return nil }
        return entries[place]?.value
    }

    /// Remembers a value, as the newest entry.
    mutating func set(_ value: Value, for digest: WordDigest) {
        let start = start(digest)
        var place = place(digest) ?? start + Self.ways - 1
        while place > start {
            entries[place] = entries[place - 1]
            place -= 1
        }
        entries[start] = Entry(digest: digest, value: value)
    }

    /// Forgets a key.
    mutating func remove(_ digest: WordDigest) {
        guard let place = place(digest) else { return }
        entries[place] = nil
    }
}
