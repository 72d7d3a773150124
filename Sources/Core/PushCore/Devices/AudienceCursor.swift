/// Where a page of an audience ended: a position that survives a restart and a change of worker.
public struct AudienceCursor: Hashable, Sendable {
    /// A row of the registry, or an index into the event's own list.
    ///
    /// Its meaning is the registry's.
    public var position: Int64
    /// The subscription that `position` is a device of; 0 if the audience is not one of subscriptions.
    public var subscription: Int64

    /// Creates a cursor; a negative number, which no registry gives, counts as 0.
    public init(position: Int64, subscription: Int64 = 0) {
        self.position = max(0, position)
        self.subscription = max(0, subscription)
    }
}
