/// Waits for something to pass through a proxy, and then strikes the connection, once.
public struct ProxyTrap: Hashable, Sendable {
    /// What springs it.
    public enum Trigger: Hashable, Sendable {
        /// Somebody connects.
        case connection
        /// So many bytes of a connection that was made after the trap was set have passed in a direction.
        case bytes(ProxyDirection, Int)
        /// A method of AMQP is about to pass, has passed in part, or has passed with all that belongs to it.
        case method(AMQPLandmark, Moment)
    }

    /// When it springs, as seen from the method that passes.
    public enum Moment: Hashable, Sendable, CaseIterable {
        /// Nothing of the method has passed.
        case before
        /// The first bytes of its frame have passed, and the rest has not.
        case within
        /// All has passed, and no answer has come.
        case after
    }

    /// What happens to the connection.
    public enum Strike: Hashable, Sendable {
        /// Both ends see it reset.
        case reset
        /// It stays open, and nothing arrives any more in these directions.
        case silence([ProxyDirection])
    }

    /// What springs it.
    public let trigger: Trigger
    /// At which occurrence it springs, counted from 1 over all connections from when the trap was set.
    public let occurrence: Int
    /// What happens then.
    public let strike: Strike

    /// Creates a trap.
    ///
    /// - Parameters:
    ///   - trigger: what springs it.
    ///   - occurrence: at which occurrence, counted from 1.
    ///   - strike: what happens then.
    public init(_ trigger: Trigger, occurrence: Int = 1, strike: Strike = .reset) {
        self.trigger = trigger
        self.occurrence = occurrence
        self.strike = strike
    }
}
