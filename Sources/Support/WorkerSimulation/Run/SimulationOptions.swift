/// What a simulation is to play.
public struct SimulationOptions: Sendable {
    /// What everything that is drawn follows from.
    public var seed: UInt64
    /// How many events backends publish.
    public var eventCount: Int
    /// What goes wrong.
    public var faults: [Fault]
    /// How many workers there are.
    public var workerCount: Int
    /// How many work queues there are.
    public var workQueueCount: Int
    /// The most deliveries that a worker has in hand.
    public var prefetch: Int
    /// How many devices each of the four apps has.
    public var devicesPerApp: Int
    /// Whether datasets are deleted and merged, after which counts begin anew and no order of counts is promised.
    public var hasDeletions: Bool
    /// How many events come in a second on average.
    public var eventsPerSecond: Int
    /// The events of which is said what happens to them.
    public var tracedEvents: Set<Int> = []
    /// How many of a million events go to some thousand devices.
    public var largeAudiencesPerMillion = 300

    /// Chooses what the seed does not leave open: workers, queues, prefetch, pace and faults follow from the seed.
    ///
    /// - Parameters:
    ///   - seed: what everything that is drawn follows from.
    ///   - eventCount: how many events backends publish.
    ///   - faults: what goes wrong; nil for all of it, or for a few things, as the seed says.
    public init(seed: UInt64, eventCount: Int, faults: [Fault]? = nil) {
        self.seed = seed
        self.eventCount = eventCount
        var random = Randomness(seed: seed, model: "options")
        workerCount = random.within(1...3)
        workQueueCount = random.within(1...2)
        prefetch = [50, 200, 1_000][random.below(3)]
        devicesPerApp = eventCount < 20_000 ? 1_600 : 4_000
        eventsPerSecond = [200, 600, 1_500][random.below(3)]
        hasDeletions = random.below(2) == 0
        var drawn = Fault.allCases
        if random.below(3) > 0 {
            random.shuffle(&drawn)
            drawn = Array(drawn.prefix(random.within(1...7)))
        }
        self.faults = faults ?? drawn
    }
}
