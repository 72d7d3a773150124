/// The numbers that bound a pool of connections.
public struct PoolLimits: Hashable, Sendable {
    /// How many connections to keep open, not counting those that drain.
    public var connections = 2
    /// The most streams on one connection, whatever the peer allows.
    public var streamsMaximum = 1_000
    /// The most pushes that wait or are in flight; one more ends at once as not processed.
    public var outstandingMaximum = 65_536
    /// How long a push may wait for a stream, and then again how long its answer may take.
    public var deadlineNanoseconds: UInt64 = 20_000_000_000
    /// How often the pool itself resends a push that was certainly not processed, before it reports it.
    public var resendsMaximum = 3
    /// After how many deadlines in a row, with no answer between, a connection has to prove by a PING that it lives.
    public var deadlinesBeforePing = 3
    /// How long the answer to a PING may take.
    public var pingTimeoutNanoseconds: UInt64 = 5_000_000_000
    /// How long a connection may be quiet before a PING looks whether it is still there.
    ///
    /// Address translators forget quiet connections, some after 350 seconds.
    public var idlePingNanoseconds: UInt64 = 300_000_000_000
    /// How long a connection may take from the look-up of its name to its first SETTINGS.
    public var connectTimeoutNanoseconds: UInt64 = 15_000_000_000
    /// How long a connection must have been ready for its loss not to count as a failure, even if nothing was
    /// answered.
    public var stableNanoseconds: UInt64 = 10_000_000_000
    /// After how many failures in a row the circuit is open.
    public var failuresToOpenCircuit = 5
    /// How long to wait between attempts to connect.
    public var backOff = BackOff()

    /// Creates the default limits.
    public init() {}
}
