/// Counts what became of the pushes of one app, so that at any moment it can be seen that none is missing.
///
///     matched = accepted + token dead + expired + coalesced + requeued + in flight
///
/// A requeued push that comes back from a retry queue is matched again.
public struct PushCounts: Hashable, Sendable {
    /// Pushes that events called for.
    public var matched = 0
    /// Accepted by the push service.
    public var accepted = 0
    /// Ended because the token is dead.
    public var tokenDead = 0
    /// Ended because their time had passed.
    public var expired = 0
    /// Not sent, because a newer event of the same dataset said the same.
    public var coalesced = 0
    /// Handed to a retry queue, by a publish that the broker confirmed.
    public var requeuedForRetry = 0
    /// Handed to the dead letters, by a publish that the broker confirmed.
    public var deadLettered = 0
    /// Neither of these yet.
    public var inFlight = 0

    /// Creates an empty ledger.
    public init() {}

    /// The requeued pushes of both kinds.
    public var requeued: Int { requeuedForRetry + deadLettered }

    /// Whether every matched push is accounted for.
    public var isBalanced: Bool { unaccounted == 0 }

    /// The matched pushes that neither ended nor are in flight; anything but 0 is a defect.
    public var unaccounted: Int { matched - accepted - tokenDead - expired - coalesced - requeued - inFlight }
}
