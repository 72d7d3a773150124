/// The bounds of the dispatcher's memory and of its patience.
public struct DispatchLimits: Hashable, Sendable {
    /// The most pushes of a delivery class that are out at once, over all apps.
    public var pushesInFlightMaximum = 4_096
    /// How many devices may wait before no more interactive deliveries are looked up, if there are several apps.
    public var devicesWaitingMaximum = 4_096
    /// The most deliveries that the broker hands out at once: the prefetch.
    public var unsettledDeliveriesMaximum = 1_000
    /// The most devices of an event that the look-up of a large batch finds; one more look-up finds the rest.
    public var devicesPerPageMaximum = 250
    /// How many devices a batch of interactive deliveries is to find.
    ///
    /// A batch that finds more makes the next one smaller, so the memory for waiting devices is bounded, however large
    /// the audiences are. Events whose devices find no room are looked up again with the next batch.
    public var devicesPerBatchWanted = 4_096
    /// How many batches of interactive deliveries the registry is asked for at once.
    public var batchesAskedMaximum = 1
    /// The most devices in one page of a bulk delivery, which one look-up finds and the worker keeps in memory.
    public var devicesPerBulkPageMaximum = 1_000
    /// The most devices of an app that may wait for bulk pushes when its next page is looked up.
    ///
    /// A look-up takes some time, in which these devices are sent to.
    public var bulkDevicesWaitingMaximum = 250
    /// How many devices an audience may have that one worker serves page by page; a larger one is planned in chunks.
    public var fanOutThresholdDevices = 1_000
    /// The most devices in one chunk of a large fan-out.
    public var devicesPerChunkMaximum = 2_000
    /// How often a push is sent within one attempt when it was certainly not processed.
    var sendsPerAttemptMaximum = 4
    /// How often a push is sent within one attempt when its answer was lost.
    var ambiguousSendsPerAttemptMaximum = 2
    /// The most devices named in one requeued message, so that its headers stay within a frame of 128 KiB.
    public var devicesPerRequeuedMessageMaximum = 200
    /// How long a push service may answer no push of an app before it is reported as silent, in milliseconds: the time
    /// that one push has to be answered.
    public var answerPatienceMilliseconds: Int64 = 20_000
    /// How long outcomes that the broker refuses are published again, in milliseconds; then they are dropped.
    public var outcomePatienceMilliseconds: Int64 = 10_000
    /// How long the registry remembers events that ask for it, in milliseconds; 0 for not at all.
    public var eventMemoryMilliseconds: Int64 = 0
    /// How many events the registry remembers.
    public var rememberedEventsMaximum = 10_000_000

    /// Whether outcomes wait in the registry while the broker takes no messages; otherwise they are dropped.
    public var storesOutcomes = false
    /// How long the registry keeps outcomes, in milliseconds.
    public var historyMilliseconds: Int64 = 0
    /// How many outcomes the registry keeps.
    public var historyOutcomesMaximum = 1_000_000

    /// Creates the standard limits.
    public init() {}

    /// The most devices of an event that its worker looks up in one go.
    public var devicesPerAudienceMaximum: Int { min(fanOutThresholdDevices, devicesPerBatchWanted) }

    /// How many devices of each event one look-up of a batch may find.
    ///
    /// Small batches are those of large audiences, whose devices one look-up finds completely.
    func devicesPerPage(questionCount: Int) -> Int {
        let share = devicesPerBatchWanted / max(1, questionCount)
        return max(devicesPerPageMaximum, min(share, devicesPerAudienceMaximum))
    }
}

/// Where the dispatcher publishes: queues for requeued messages, by name, and the exchange for outcomes.
public struct DispatchQueues: Hashable, Sendable {
    /// The retry queues, by delay in milliseconds.
    public var retry: [Int64: String]
    /// The continuation of large fan-outs.
    public var fanout: String
    /// The dead letters.
    public var deadLetter: String
    /// The exchange for what became of pushes.
    public var outcomes: String

    /// Creates a set of names.
    public init(retry: [Int64: String], fanout: String, deadLetter: String, outcomes: String = "apus.outcomes") {
        self.retry = retry
        self.fanout = fanout
        self.deadLetter = deadLetter
        self.outcomes = outcomes
    }
}
