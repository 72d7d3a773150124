/// Which subscriptions to list; the parts that are given must all hold.
public struct SubscriptionFilter: Hashable, Sendable {
    /// Only this app's.
    public var app: String?
    /// Only this owner's.
    public var owner: SubscriptionOwner?
    /// Only those of records of this type.
    public var recordType: String?

    /// Creates a filter; without arguments it lets every subscription through.
    public init(app: String? = nil, owner: SubscriptionOwner? = nil, recordType: String? = nil) {
        self.app = app
        self.owner = owner
        self.recordType = recordType
    }
}
