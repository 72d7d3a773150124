/// The counts of a run.
public struct LoadTotals: Sendable, Equatable {
    /// Events that were handed to the publisher.
    public var published = 0
    /// Those of them that are measured, because they came after the warm-up.
    public var measured = 0
    /// Events that RabbitMQ confirmed.
    public var confirmed = 0
    /// Events that RabbitMQ refused (`basic.nack`) or does not accept.
    public var refused = 0
    /// Events that no queue took (`basic.return`).
    public var returned = 0
    /// The pushes that must come of all events but the refused and returned ones.
    public var expectedPushes = 0
    /// Accepted pushes, each counted once.
    public var pushes = 0
    /// Accepted pushes of measured events.
    public var measuredPushes = 0
    /// Pushes beyond the expected ones, or with an `apns-id` that had been accepted before.
    public var duplicatePushes = 0
    /// Pushes that the push server rejected.
    public var rejectedPushes = 0
    /// When the last measured event was handed to the publisher, in microseconds since 1970.
    public var lastPublishedMicroseconds: Int64 = 0
    /// When the last measured push was answered, in microseconds since 1970.
    public var lastMeasuredMicroseconds: Int64 = 0

    /// Creates counts of nothing.
    public init() {}
}

/// A second of a run.
public struct LoadSample: Sendable, Equatable {
    /// The depth of the queues.
    public struct Queue: Sendable, Equatable {
        /// Events that wait in the work queues.
        public var work: Int
        /// Chunks of fan-outs that wait.
        public var fanOut: Int
        /// Events that wait for a retry.
        public var retry: Int
        /// Dead letters that nobody has collected.
        public var deadLetters: Int
        /// Consumers of the first work queue: workers.
        public var consumers: Int

        /// Creates depths.
        public init(work: Int, fanOut: Int, retry: Int, deadLetters: Int, consumers: Int) {
            self.work = work
            self.fanOut = fanOut
            self.retry = retry
            self.deadLetters = deadLetters
            self.consumers = consumers
        }

        /// Messages that a worker still has to take.
        public var waiting: Int { work + fanOut + retry }
    }

    /// Its end, in seconds since the start of the run.
    public var seconds: Double
    /// Events handed to the publisher, a second.
    public var publishedPerSecond: Double
    /// Confirmed events, a second.
    public var confirmedPerSecond: Double
    /// Accepted pushes, a second.
    public var pushedPerSecond: Double
    /// The median latency of the pushes that came in this second, in microseconds.
    public var p50: UInt64
    /// The 99th percentile of them.
    public var p99: UInt64
    /// The longest of them.
    public var maximum: UInt64
    /// Whether it lies after the warm-up.
    public var isMeasured: Bool
    /// Events without a confirm at its end.
    public var unconfirmed: Int
    /// The depth of the queues at its end; nil if it is not known.
    public var queue: Queue?
}
