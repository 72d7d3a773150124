public import Essentials

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

/// A topic and how many subscribe to it.
public struct TopicCount: Hashable, Sendable {
    /// The topic.
    @ByBytes public var topic: String
    /// How many devices subscribed by themselves.
    public var devices: Int
    /// How many users subscribed with all their devices.
    public var users: Int

    /// Creates a count.
    public init(topic: String, devices: Int, users: Int) {
        self.topic = topic
        self.devices = devices
        self.users = users
    }
}
