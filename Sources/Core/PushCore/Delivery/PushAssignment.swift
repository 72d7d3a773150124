public import Notifications

/// What one device of a job is told, and for which subscription.
public struct PushAssignment: Hashable, Sendable {
    /// The place of what it is told in the job's renderings; nil if its app is not configured.
    public var rendering: Int?
    /// The row of the subscription.
    public var subscription: Int64
    /// Why its push cannot be made, if so; it goes to the dead letters with this.
    public var problem: EventRejection?

    /// Creates an assignment.
    public init(rendering: Int?, subscription: Int64, problem: EventRejection? = nil) {
        self.rendering = rendering
        self.subscription = subscription
        self.problem = problem
    }
}
