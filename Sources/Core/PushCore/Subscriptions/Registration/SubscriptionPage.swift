/// Some subscriptions of a list, in the order of their rows.
public struct SubscriptionPage: Hashable, Sendable {
    /// How many bytes of definitions a page has about (`RecordSubscription.storedBytes`): it ends with the subscription
    /// that reaches this.
    public static let bytesMaximum = 1_048_576

    /// The subscriptions; none only if there is no more.
    public var subscriptions: [StoredSubscription]
    /// The row to go on after; nil if this is the last page.
    public var next: Int64?

    /// Creates a page.
    public init(subscriptions: [StoredSubscription], next: Int64?) {
        self.subscriptions = subscriptions
        self.next = next
    }
}

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
