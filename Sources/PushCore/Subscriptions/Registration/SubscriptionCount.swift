/// How many subscriptions of one app are about one type of record.
public struct SubscriptionCount: Hashable, Sendable {
    /// The app.
    public var app: String
    /// The type; nil for subscriptions of all types.
    public var recordType: String?
    /// How many there are, at least one.
    public var count: Int

    /// Creates a count.
    public init(app: String, recordType: String?, count: Int) {
        self.app = app
        self.recordType = recordType
        self.count = count
    }
}
