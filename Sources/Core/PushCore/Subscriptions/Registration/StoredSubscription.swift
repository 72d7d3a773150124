/// A subscription with its place in the registry.
public struct StoredSubscription: Hashable, Sendable {
    /// The row: a number that no other subscription ever gets.
    public var row: Int64
    /// The subscription.
    public var subscription: RecordSubscription

    /// Creates a stored subscription.
    public init(row: Int64, subscription: RecordSubscription) {
        self.row = row
        self.subscription = subscription
    }
}
