/// The queues that parked messages go to, by name; published through the default exchange.
public struct DispatchQueues: Hashable, Sendable {
    /// The retry queues, by delay in milliseconds.
    public var retry: [Int64: String]
    /// The continuation of large fan-outs.
    public var fanout: String
    /// The dead letters.
    public var deadLetter: String

    /// Creates a set of names.
    public init(retry: [Int64: String], fanout: String, deadLetter: String) {
        self.retry = retry
        self.fanout = fanout
        self.deadLetter = deadLetter
    }
}
