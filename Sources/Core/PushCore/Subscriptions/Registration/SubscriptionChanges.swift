/// One step of following the subscriptions of a registry.
public struct SubscriptionChanges: Hashable, Sendable {
    /// What became of one subscription; each may come more than once, and the last counts.
    public enum Change: Hashable, Sendable {
        /// It is there, and looks like this.
        case saved(FollowedSubscription)
        /// The subscription of that row is gone, or has fired its only push.
        case removed(Int64)
    }

    /// What changed, in order.
    public var changes: [Change]
    /// Where the next step begins.
    public var next: SubscriptionCursor
    /// Whether everything that had been committed when the step began is known now.
    public var isCaughtUp: Bool
    /// Whether all that was known before must be forgotten, because the log does not reach back to it.
    public var startsOver: Bool

    /// Creates a step.
    public init(changes: [Change], next: SubscriptionCursor, isCaughtUp: Bool, startsOver: Bool = false) {
        self.changes = changes
        self.next = next
        self.isCaughtUp = isCaughtUp
        self.startsOver = startsOver
    }
}
