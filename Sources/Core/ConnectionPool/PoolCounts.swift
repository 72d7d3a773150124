/// What a pool has done of its own accord since it was made; the numbers only rise.
public struct PoolCounts: Hashable, Sendable {
    /// Connections opened because all streams were taken.
    public var openedForStreams = 0
    /// Connections opened because flow-control windows were exhausted while streams were free.
    public var openedForWindow = 0
    /// How often growing brought nothing, so that it was taken back.
    public var grownInVain = 0
    /// Connections closed because they were not needed any more.
    public var retired = 0
    /// Connections dropped because they did not answer a PING.
    public var evictedSilent = 0
    /// Connections replaced because their peer kept the flow-control window shut.
    public var evictedStarved = 0

    /// Creates counts of nothing.
    public init() {}
}
