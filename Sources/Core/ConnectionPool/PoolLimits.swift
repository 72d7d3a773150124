public import Essentials

/// The numbers that bound a pool of connections.
public struct PoolLimits: Hashable, Sendable {
    /// The number of connections that stay open without pushes, not counting draining ones; 0 opens the first when a
    /// push waits for it.
    public var connections = 2
    /// How many of these are open before the first push; the others follow it.
    ///
    /// Most apps never push to one of their environments, and each connection holds memory at both ends.
    public var connectionsUnused = Int.max
    /// The most connections under pressure, not counting draining ones; a value below `connections` means
    /// `connections`.
    ///
    /// Apple's names answer with about eight addresses, and users of APNs saw little gain beyond 16 connections.
    public var connectionsMaximum = 16
    /// The most streams on one connection, even if the peer allows more.
    public var streamsMaximum = 1_000
    /// The most pushes that wait or are in flight; one more ends at once as not processed.
    public var outstandingMaximum = 65_536
    /// The most pushes that are submitted in a minute, spread evenly; nil for no bound.
    public var pushesPerMinuteMaximum: Int?
    /// How long a push may wait for a stream, and then again how long its answer may take.
    public var deadlineNanoseconds: UInt64 = 20_000_000_000
    /// How often the pool itself resends a push that was certainly not processed, before it reports it.
    ///
    /// Resends after a GOAWAY or a cut are not counted if the connection has brought answers.
    public var resendsMaximum = 3
    /// The number of consecutive refusals of the provider token after which waiting pushes end as not processed, if no
    /// connection has proved the token.
    ///
    /// More of the same would only make APNs close connections sooner. Later pushes are tried again, one for each
    /// connection.
    public var tokenRefusalsMaximum = 8
    /// Whether waiting pushes end as soon as the endpoint proves unusable, and not at their deadline.
    ///
    /// A worker lets them wait: its events are durable, and an operator may correct the configuration meanwhile.
    public var endsWaitingOnUnusableEndpoint = false
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
    /// How long pushes must have waited, without a pause, before the pool grows.
    public var pressureNanoseconds: UInt64 = 50_000_000
    /// The time that a new connection has to become useful before the pool grows past it.
    public var growthPatienceNanoseconds: UInt64 = 1_000_000_000
    /// How long the pool does not grow after it has grown in vain; doubled each time that this happens in a row.
    public var growthPauseNanoseconds: UInt64 = 5_000_000_000
    /// How long connections beyond `connections` must have been dispensable before one of them is closed.
    public var shrinkIntervalNanoseconds: UInt64 = 60_000_000_000
    /// The time that a connection without streams may keep its flow-control window shut while pushes wait, before it is
    /// replaced.
    ///
    /// Everything sent has been answered, so the peer has read it and ought to open the window.
    public var starvationNanoseconds: UInt64 = 1_000_000_000
    /// How long to wait between attempts to connect.
    public var backOff = BackOff()

    /// Creates the default limits.
    public init() {}

    /// The most connections at any time, not counting draining ones.
    var connectionsLimit: Int { max(1, connections, connectionsMaximum) }
}
