/// Counts what became of the pushes of one app, so that at any moment it can be seen that none is missing.
///
///     matched = accepted + token dead + expired + coalesced + parked + in flight
///
/// A push that was parked and comes back from a retry queue is matched anew.
public struct PushLedger: Hashable, Sendable {
    /// Pushes that events called for.
    public var matched = 0
    /// Accepted by APNs.
    public var accepted = 0
    /// Ended because the token is dead.
    public var tokenDead = 0
    /// Ended because their time had passed.
    public var expired = 0
    /// Not sent, because a newer event of the same dataset said the same.
    public var coalesced = 0
    /// Handed to a retry queue, by a publish that the broker confirmed.
    public var parkedForRetry = 0
    /// Handed to the dead letters, by a publish that the broker confirmed.
    public var parkedAsDeadLetter = 0
    /// Neither of these yet.
    public var inFlight = 0

    /// Creates an empty ledger.
    public init() {}

    /// All that was parked.
    public var parked: Int { parkedForRetry + parkedAsDeadLetter }

    /// Whether every matched push is accounted for.
    public var isBalanced: Bool { matched == accepted + tokenDead + expired + coalesced + parked + inFlight }
}
