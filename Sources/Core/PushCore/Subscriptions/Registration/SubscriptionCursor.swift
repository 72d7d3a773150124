/// How far someone has followed the subscriptions of a registry.
public struct SubscriptionCursor: Hashable, Sendable {
    /// The last entry of the change log that was followed.
    public var logPosition: Int64
    /// The last row that the first reading of all subscriptions has reached; nil when that is done.
    public var loadingAfterRow: Int64?

    /// Creates a cursor.
    public init(logPosition: Int64, loadingAfterRow: Int64?) {
        self.logPosition = logPosition
        self.loadingAfterRow = loadingAfterRow
    }
}
