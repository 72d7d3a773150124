/// The registry's memory of events whose pushes have ended, so that an event that comes again is not pushed again.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use it at once.
///
/// The memory is a sequence of blocks (`EventMemoryBlock`); new events come at its end. An `EventMemoryFollower` reads
/// all blocks once, and then the new ones. The memory is bounded by age and by number. Where it is full the oldest
/// events go first: they would be pushed again.
public protocol EventMemoryRegistry: AnyObject {
    /// Whether the registry has the tables of the memory, which the other methods need.
    func hasEventMemory() throws(RegistryError) -> Bool

    /// The blocks after one, in the order of their numbers.
    ///
    /// A block that is committed later has a greater number than every block that an answer has had.
    ///
    /// - Parameters:
    ///   - number: the number of the last known block; 0 for none.
    ///   - limit: the most blocks in one answer.
    /// - Returns: the blocks; fewer than `limit` if they are the last ones.
    /// - Throws: `RegistryError` if the store cannot answer.
    func eventMemoryBlocks(after number: Int64, limit: Int) throws(RegistryError) -> [EventMemoryBlock]

    /// The blocks of some numbers that are still there, in the order of their numbers.
    func eventMemoryBlocks(numbered numbers: [Int64]) throws(RegistryError) -> [EventMemoryBlock]

    /// Remembers events, all or none.
    ///
    /// A loss of power may lose the last ones, which then may be pushed again.
    ///
    /// - Parameters:
    ///   - events: up to a few thousand.
    ///   - milliseconds: when their pushes ended, in milliseconds since 1970.
    /// - Throws: `RegistryError` if the store cannot be written.
    func remember(_ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64) throws(RegistryError)

    /// Forgets the oldest blocks that are too old, or have more events after them than are kept.
    ///
    /// The newest block stays, whatever its age.
    ///
    /// - Parameters:
    ///   - milliseconds: the oldest end that is kept, in milliseconds since 1970.
    ///   - maximum: how many events are kept.
    ///   - limit: how many blocks are looked at.
    /// - Returns: how many blocks are gone, and how many events among them were not too old.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first.
    func forgetEvents(
        endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> (blocks: Int, surplusEvents: Int)
}

/// Limits of the memory of events.
public enum EventMemoryRules {
    /// The version of the registry's schema that brought it.
    public static let schemaVersion: Int64 = 5
    /// How many blocks are read at once, about a megabyte.
    public static let blocksReadAtOnce = 256
    /// How many blocks one request to forget looks at.
    public static let blocksForgottenAtOnce = 64
}
