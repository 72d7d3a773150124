public import ChangeEvents

/// Tells which events a registry remembers: all look-ups of a process share one.
///
/// It reads each block of the memory once, keeps where its events are (`EventMemoryIndex`), and reads a block again
/// only to make sure. So a look-up of new events, as nearly all are, asks the registry for new blocks and nothing else.
///
/// An implementation protects the knowledge with a lock. No lock is held while the registry is asked.
public protocol EventMemoryFollower: Sendable {
    /// Runs `body` with the knowledge, under the lock.
    func withKnowledge<Value: Sendable>(_ body: (inout EventMemoryKnowledge) -> Value) -> Value
}

/// What a follower knows of a registry's memory of events.
public struct EventMemoryKnowledge: Sendable {
    /// A table of the index lives longer than its events by this part of their time.
    private static let generations: Int64 = 4

    /// How long an event is remembered, in milliseconds.
    public let rememberMilliseconds: Int64
    fileprivate let eventsMaximum: Int
    fileprivate var index: EventMemoryIndex
    /// Whether the registry was found to have the tables of the memory.
    fileprivate var hasTables = false

    /// Begins with nothing.
    ///
    /// - Parameters:
    ///   - milliseconds: how long an event is remembered.
    ///   - maximum: how many events are remembered.
    public init(rememberMilliseconds milliseconds: Int64, eventsMaximum maximum: Int) {
        rememberMilliseconds = milliseconds
        eventsMaximum = maximum
        index = Self.emptyIndex(milliseconds)
    }

    private static func emptyIndex(_ milliseconds: Int64) -> EventMemoryIndex {
        EventMemoryIndex(generationMilliseconds: max(1_000, milliseconds / generations))
    }

    /// How much memory it takes, in bytes.
    public var memoryBytes: Int { index.memoryBytes }

    /// The registry has no tables, or has them no more.
    fileprivate mutating func lost() {
        hasTables = false
        index = Self.emptyIndex(rememberMilliseconds)
    }

    fileprivate mutating func take(_ blocks: [EventMemoryBlock], atMilliseconds now: Int64) {
        for block in blocks { index.add(block) }
        index.drop(endedBeforeMilliseconds: now - rememberMilliseconds, eventsMaximum: eventsMaximum)
    }
}

extension EventMemoryFollower {
    /// How long an event is remembered, in milliseconds.
    public var rememberMilliseconds: Int64 { withKnowledge { $0.rememberMilliseconds } }

    /// How much memory it takes, in bytes.
    public var memoryBytes: Int { withKnowledge { $0.memoryBytes } }

    /// Reads the next blocks.
    ///
    /// - Parameters:
    ///   - registry: the registry.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: whether every block that was committed before the call is known now.
    /// - Throws: `RegistryError` if the registry does not answer.
    public func step(_ registry: any EventMemoryRegistry, atMilliseconds now: Int64) throws(RegistryError) -> Bool {
        let (hasTables, last) = withKnowledge { ($0.hasTables, $0.index.lastNumber) }
        if !hasTables {
            guard try registry.hasEventMemory() else { return true }
            withKnowledge { $0.hasTables = true }
        }
        let limit = EventMemoryRules.blocksReadAtOnce
        let blocks: [EventMemoryBlock]
        do throws(RegistryError) {
            blocks = try registry.eventMemoryBlocks(after: last, limit: limit)
        } catch {
            // A migration may have been undone.
            if (try? registry.hasEventMemory()) == false { withKnowledge { $0.lost() } }
            throw error
        }
        withKnowledge { $0.take(blocks, atMilliseconds: now) }
        return blocks.count < limit
    }

    /// The events among some that the registry remembers.
    ///
    /// - Parameters:
    ///   - identities: the events.
    ///   - registry: the registry.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: the remembered events, as they were remembered last, in any order.
    /// - Throws: `RegistryError` if the registry does not answer.
    public func rememberedEvents(
        among identities: [EventIdentity], in registry: any EventMemoryRegistry, atMilliseconds now: Int64
    ) throws(RegistryError) -> [RememberedEvent] {
        let blocks = try blocks(mayHave: identities.map(\.key), in: registry, now)
        guard !blocks.isEmpty else { return [] }
        var found: [EventIdentity: RememberedEvent] = [:]
        let wanted = Set(identities)
        for event in blocks.lazy.flatMap(\.events) where wanted.contains(event.identity) {
            found[event.identity] = event
        }
        return Array(found.values)
    }

    /// The content of a remembered event whose owner is not known; nil if the registry remembers none.
    ///
    /// - Parameters:
    ///   - key: the key of the event (`EventIdentity.key`).
    ///   - registry: the registry.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: the digest that was remembered last.
    /// - Throws: `RegistryError` if the registry does not answer.
    public func content(
        ofKey key: Int64, in registry: any EventMemoryRegistry, atMilliseconds now: Int64
    ) throws(RegistryError) -> Int64? {
        try blocks(mayHave: [key], in: registry, now).lazy.flatMap(\.events).last { $0.identity.key == key }?.content
    }

    /// The blocks that may have events with these keys, in the order of their numbers, without those that are too old.
    private func blocks(
        mayHave keys: [Int64], in registry: any EventMemoryRegistry, _ now: Int64
    ) throws(RegistryError) -> [EventMemoryBlock] {
        while try !step(registry, atMilliseconds: now) {}
        let (numbers, milliseconds) = withKnowledge { knowledge in
            (keys.flatMap { knowledge.index.blocks(mayHave: $0) }, knowledge.rememberMilliseconds)
        }
        guard !numbers.isEmpty else { return [] }
        let distinct = Set(numbers).sorted()
        var blocks: [EventMemoryBlock] = []
        for start in stride(from: 0, to: distinct.count, by: EventMemoryRules.blocksReadAtOnce) {
            let end = min(distinct.count, start + EventMemoryRules.blocksReadAtOnce)
            blocks += try registry.eventMemoryBlocks(numbered: Array(distinct[start..<end]))
        }
        return blocks.filter { $0.endedAtMilliseconds >= now - milliseconds }
    }
}
