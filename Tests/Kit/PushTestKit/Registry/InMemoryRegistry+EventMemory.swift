public import RegistryCore

extension InMemoryRegistry: EventMemoryRegistry {
    /// Whether the registry has the tables of the memory.
    public func hasEventMemory() throws(RegistryError) -> Bool {
        try check()
        return true
    }

    /// The blocks after one.
    public func eventMemoryBlocks(after number: Int64, limit: Int) throws(RegistryError) -> [EventMemoryBlock] {
        try check()
        return Array(eventMemory.drop { $0.number <= number }.prefix(limit))
    }

    /// The blocks of some numbers.
    public func eventMemoryBlocks(numbered numbers: [Int64]) throws(RegistryError) -> [EventMemoryBlock] {
        try check()
        return eventMemory.filter { numbers.contains($0.number) }
    }

    /// Remembers events.
    public func remember(
        _ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        try check()
        for bytes in EventMemoryBlock.parts(of: events) {
            // The last block is never forgotten.
            let number = (eventMemory.last?.number ?? 0) + 1
            eventMemory.append(
                EventMemoryBlock(number: number, endedAtMilliseconds: milliseconds, bytes: bytes))
        }
    }

    /// Forgets the oldest blocks that are too old, or have more events after them than are kept.
    public func forgetEvents(
        endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> (blocks: Int, surplusEvents: Int) {
        try check()
        let all = eventMemory
        let forgotten = all.indices.dropLast().prefix(limit).filter { index in
            let later = all[(index + 1)...].reduce(0) { $0 + $1.count }
            return all[index].endedAtMilliseconds < milliseconds || later >= maximum
        }
        eventMemory = all.indices.filter { !forgotten.contains($0) }.map { all[$0] }
        let surplus = forgotten.filter { all[$0].endedAtMilliseconds >= milliseconds }
        return (forgotten.count, surplus.reduce(0) { $0 + all[$1].count })
    }
}
