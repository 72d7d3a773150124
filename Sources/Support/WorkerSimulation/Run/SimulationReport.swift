/// What a simulation came to.
public struct SimulationReport: Sendable {
    /// What was played.
    public internal(set) var options: SimulationOptions
    /// How many steps were made: things that happened.
    public internal(set) var steps = 0
    /// How long it lasted in the time of the simulation, in seconds.
    public internal(set) var seconds = 0.0
    /// The books.
    public internal(set) var counts = BooksCounts()
    /// What follows from everything that workers asked for, in order: two runs of a seed have the same.
    public internal(set) var digest: UInt64 = 0
    /// How often each fault came.
    public internal(set) var faultCounts: [(fault: Fault, count: Int)] = []
    /// The most pushes that a worker had out.
    public internal(set) var pushesOutMaximum = 0
    /// The most deliveries that a worker had in hand.
    public internal(set) var deliveriesInHandMaximum = 0
    /// The most messages that a worker had published and that had no outcome.
    public internal(set) var publishesOutMaximum = 0
    /// The longest time that an event of the app took that is served well, without what disturbs all, in seconds.
    public internal(set) var longestWaitSeconds = 0.0
    /// What was found to be wrong first; nil if all promises were kept.
    public internal(set) var violation: Violation?
}
