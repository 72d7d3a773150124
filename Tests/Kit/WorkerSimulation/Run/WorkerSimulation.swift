import DispatchCore
import Hashing

/// Plays workers against a broker, a registry and a push service with faults, in one thread and in a time of its own.
public enum WorkerSimulation {
    /// Makes all runs of this process replayable in others, byte by byte: to be called before the first.
    public static func makeReplayable() { WordDigest.fixSecretSeed(1) }

    /// Plays one run, until all events have ended or a promise is broken.
    ///
    /// - Parameters:
    ///   - options: the options of the run.
    ///   - trace: receives the trace of selected events.
    ///   - progress: called now and then with the steps and the events so far; tells whether to go on.
    /// - Returns: the report.
    public static func play(
        _ options: SimulationOptions, trace: @escaping (String) -> Void = { _ in },
        progress: (_ steps: Int, _ events: Int) -> Bool = { _, _ in true }
    ) -> SimulationReport {
        let simulation = Simulation<PipelineMachine>(options)
        simulation.trace = trace
        return simulation.run(progress: progress)
    }
}

/// The options of a simulation.
public struct SimulationOptions: Sendable {
    /// The seed of everything random.
    public var seed: UInt64
    /// How many events backends publish.
    public var eventCount: Int
    /// The faults.
    public var faults: [SimulatedFault]
    /// How many workers there are.
    public var workerCount: Int
    /// How many work queues there are.
    public var workQueueCount: Int
    /// The most unsettled deliveries of a worker.
    public var prefetch: Int
    /// How many devices each of the four apps has.
    public var devicesPerApp: Int
    /// Whether datasets are deleted and merged; then counts restart, and their order is not promised.
    public var hasDeletions: Bool
    /// Whether the backend of one app wants to hear of its pushes.
    public var tellsOutcomes = false
    /// How many events come in a second on average.
    public var eventsPerSecond: Int
    /// The events to trace.
    public var tracedEvents: Set<Int> = []
    /// How many of a million events go to some thousand devices.
    public var largeAudiencesPerMillion = 300

    /// Chooses the options: workers, queues, prefetch, pace and faults follow from the seed.
    ///
    /// - Parameters:
    ///   - seed: the seed of everything random.
    ///   - eventCount: how many events backends publish.
    ///   - faults: the faults; nil for all or a few of them, by the seed.
    public init(seed: UInt64, eventCount: Int, faults: [SimulatedFault]? = nil) {
        self.seed = seed
        self.eventCount = eventCount
        var random = Randomness(seed: seed, model: "options")
        workerCount = random.within(1...3)
        workQueueCount = random.within(1...2)
        prefetch = [50, 200, 1_000][random.below(3)]
        devicesPerApp = eventCount < 20_000 ? 1_600 : 4_000
        eventsPerSecond = [200, 600, 1_500][random.below(3)]
        hasDeletions = random.below(2) == 0
        var drawn = SimulatedFault.allCases
        if random.below(3) > 0 {
            random.shuffle(&drawn)
            drawn = Array(drawn.prefix(random.within(1...7)))
        }
        self.faults = faults ?? drawn
    }
}

/// The report of a simulation.
public struct SimulationReport: Sendable {
    /// The options of the run.
    public internal(set) var options: SimulationOptions
    /// How many steps were made: things that happened.
    public internal(set) var steps = 0
    /// How long it lasted in the time of the simulation, in seconds.
    public internal(set) var seconds = 0.0
    /// The books.
    public internal(set) var counts = BooksCounts()
    /// A digest of all actions of the workers, in order: two runs of a seed have the same.
    public internal(set) var digest: UInt64 = 0
    /// How often each fault came.
    public internal(set) var faultCounts: [(fault: SimulatedFault, count: Int)] = []
    /// The most pushes that a worker had out.
    public internal(set) var pushesOutMaximum = 0
    /// The most unsettled deliveries of a worker.
    public internal(set) var unsettledDeliveriesMaximum = 0
    /// The most messages that a worker had published and that had no outcome.
    public internal(set) var publishesOutMaximum = 0
    /// The longest time that an event of the app took that is served well, without what disturbs all, in seconds.
    public internal(set) var longestWaitSeconds = 0.0
    /// The first violation; nil if all promises were kept.
    public internal(set) var violation: Violation?
}
