import Hashing

/// Finds the blocks that may have an event, with about ten bytes of memory for each event.
///
/// An event is 32 hashed bits of its key and the place of its block, in a hash table. Other events may have the same
/// bits, so only the block itself can tell. Events of about the same time share a table, a *generation*, which is
/// dropped when its last block is.
public struct EventMemoryIndex: Sendable {
    private struct Block {
        let number: Int64
        let endedAtMilliseconds: Int64
        let eventCount: Int
    }

    private let generationMilliseconds: Int64
    /// The blocks, from `firstPlace` on; those before `head` are dropped, and removed now and then.
    private var blocks: [Block] = []
    private var head = 0
    /// The place of the first entry of `blocks`: how many blocks had been removed before it.
    private var firstPlace = 0
    private var generations: [EventMemoryGeneration] = []

    /// How many events its blocks have.
    public private(set) var count = 0
    /// The number of the newest block that it has had; 0 if it has had none.
    public private(set) var lastNumber: Int64 = 0

    /// Creates an index without blocks.
    ///
    /// - Parameter generationMilliseconds: how long blocks are added to one table at most; a table is dropped so much
    ///   later than its first block.
    public init(generationMilliseconds: Int64) { self.generationMilliseconds = generationMilliseconds }

    /// How much memory it takes, in bytes.
    public var memoryBytes: Int {
        generations.reduce(blocks.capacity * MemoryLayout<Block>.stride) { $0 + $1.memoryBytes }
    }

    /// Adds a block, unless a newer one was added before: several readers may have read the same.
    public mutating func add(_ block: EventMemoryBlock) {
        guard block.number > lastNumber else { return }
        lastNumber = block.number
        let place = firstPlace + blocks.count
        blocks.append(
            Block(number: block.number, endedAtMilliseconds: block.endedAtMilliseconds, eventCount: block.count))
        count += block.count
        beginGeneration(for: block)
        let last = generations.endIndex - 1
        block.forEachKey { generations[last].insert($0, place) }
        generations[last].lastPlace = place
    }

    private mutating func beginGeneration(for block: EventMemoryBlock) {
        if let last = generations.last, last.hasRoom(for: block.count),
            block.endedAtMilliseconds &- last.beganAtMilliseconds < generationMilliseconds
        {
            return
        }
        generations.append(EventMemoryGeneration(beganAtMilliseconds: block.endedAtMilliseconds))
    }

    /// The numbers of the blocks that may have an event with this key.
    public func blocks(mayHave key: Int64) -> [Int64] {
        var numbers: [Int64] = []
        for generation in generations {
            generation.forEachPlace(of: key) { place in
                // The place has lost its upper bits. Blocks that are dropped come out behind all others.
                let position = Int(place &- UInt32(truncatingIfNeeded: firstPlace))
                guard position >= head, position < blocks.count else { return }
                numbers.append(blocks[position].number)
            }
        }
        return numbers
    }

    /// Drops the oldest blocks that are too old, or have more events after them than are kept, but not the newest.
    ///
    /// - Parameters:
    ///   - milliseconds: the oldest end that is kept, in milliseconds since 1970.
    ///   - maximum: how many events are kept.
    public mutating func drop(endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int) {
        let before = head
        while head < blocks.count - 1,
            blocks[head].endedAtMilliseconds < milliseconds || count - blocks[head].eventCount >= maximum
        {
            count -= blocks[head].eventCount
            head += 1
        }
        guard head > before else { return }
        while let first = generations.first, first.lastPlace < firstPlace + head { generations.removeFirst() }
        // Half of the array at once, so that each block is moved once or twice.
        guard head > blocks.count / 2 else { return }
        blocks.removeFirst(head)
        firstPlace += head
        head = 0
    }
}

/// The events of one time in an `EventMemoryIndex`: a hash table with open addressing.
struct EventMemoryGeneration: Sendable {
    private static let seed = WordDigest.secretSeed
    private static let bitsMinimum = 8
    /// So that 32 hashed bits rarely mean two events: one of 300 look-ups in a full table finds another event.
    private static let bitsMaximum = 24

    /// When its first events ended, in milliseconds since 1970.
    let beganAtMilliseconds: Int64
    /// The place of the newest block that it has events of.
    var lastPlace = 0
    private var bits = bitsMinimum
    private var count = 0
    /// The hashed bits above, the lower bits of the place below; 0 for none.
    private var entries: [UInt64] = Array(repeating: 0, count: 1 << bitsMinimum)

    init(beganAtMilliseconds: Int64) { self.beganAtMilliseconds = beganAtMilliseconds }

    var memoryBytes: Int { entries.count * MemoryLayout<UInt64>.stride }

    /// Whether so many events can be added.
    func hasRoom(for more: Int) -> Bool { count + more <= 3 << (Self.bitsMaximum - 2) }

    /// Adds an event, for which there is room.
    mutating func insert(_ key: Int64, _ place: Int) {
        if count >= 3 << (bits - 2) { grow() }
        put(UInt64(Self.hash(key)) << 32 | UInt64(UInt32(truncatingIfNeeded: place)))
        count += 1
    }

    /// Calls `body` with the lower bits of the places of all events that may have this key.
    func forEachPlace(of key: Int64, _ body: (UInt32) -> Void) {
        let hash = Self.hash(key)
        var slot = Int(hash >> (32 - bits))
        while entries[slot] != 0 {
            if entries[slot] >> 32 == UInt64(hash) { body(UInt32(truncatingIfNeeded: entries[slot])) }
            slot = (slot + 1) & (entries.count - 1)
        }
    }

    private mutating func put(_ entry: UInt64) {
        var slot = Int((entry >> 32) >> (32 - bits))
        while entries[slot] != 0 { slot = (slot + 1) & (entries.count - 1) }
        entries[slot] = entry
    }

    private mutating func grow() {
        let old = entries
        bits += 1
        entries = Array(repeating: 0, count: 1 << bits)
        for entry in old where entry != 0 { put(entry) }
    }

    /// Hashes a key to 32 bits, never 0; the seed is secret, so that publishers cannot choose equal hashes.
    private static func hash(_ key: Int64) -> UInt32 {
        var hash = (UInt64(bitPattern: key) ^ seed) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
        return max(1, UInt32(truncatingIfNeeded: hash >> 32))
    }
}
