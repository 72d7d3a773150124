public import ChangeEvents

/// The registry's memory of events whose pushes have ended, so that an event that comes again is not pushed again.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use it at once. An end is kept to the second.
///
/// The memory is bounded by age and by number. Where it is full the oldest events go first: they would be pushed again.
public protocol EventMemoryRegistry: AnyObject {
    /// Whether the registry has the tables of the memory, which the other methods need.
    func hasEventMemory() throws(RegistryError) -> Bool

    /// The events among some that it remembers.
    ///
    /// - Parameters:
    ///   - identities: up to a few hundred, all different.
    ///   - milliseconds: the oldest end that counts, in milliseconds since 1970.
    /// - Returns: the remembered events, in any order.
    /// - Throws: `RegistryError` if the store cannot answer.
    func rememberedEvents(
        among identities: [EventIdentity], endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [RememberedEvent]

    /// The content of a remembered event whose owner is not known; nil if it remembers none.
    func rememberedContent(
        ofKey key: Int64, endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> Int64?

    /// Remembers events, all or none; one that it remembers already begins anew.
    ///
    /// A loss of power may lose the last ones, which then may be pushed again.
    ///
    /// - Parameters:
    ///   - events: up to a few thousand, all different.
    ///   - milliseconds: when their pushes ended, in milliseconds since 1970.
    /// - Throws: `RegistryError` if the store cannot be written.
    func remember(_ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64) throws(RegistryError)

    /// Forgets the events of a part that are too old, and the oldest of those that are too many.
    ///
    /// - Parameters:
    ///   - slice: the part.
    ///   - milliseconds: the oldest end that is kept, in milliseconds since 1970.
    ///   - maximum: how many events of all parts are kept.
    /// - Returns: how many were too old, and how many too many.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first.
    func forgetEvents(
        in slice: EventMemorySlice, endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int
    ) throws(RegistryError) -> (expired: Int, surplus: Int)
}
