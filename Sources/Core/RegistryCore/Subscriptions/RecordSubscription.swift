public import ChangeEvents
public import Essentials
public import Predicates

/// A wish to hear of changes of records.
public struct RecordSubscription: Hashable, Sendable {
    /// Its name.
    public var key: SubscriptionKey
    /// The kind of records or zones that it watches.
    public var kind: SubscriptionKind
    /// The database that it watches.
    public var database: RecordDatabase
    /// The zone that it watches; nil for all zones.
    @ByBytes public var zoneName: String?
    /// The type of the records that it watches; nil for all types, which a query cannot have.
    @ByBytes public var recordType: String?
    /// The condition on the records; `.always` unless it is a query.
    public var predicate: Predicate
    /// Which changes it matches.
    public var firesOn: FiringOperations
    /// Whether it ends with its first push.
    public var firesOnce: Bool
    /// The content of its pushes.
    public var notification: NotificationInfo
    /// When it was saved last, in milliseconds since 1970.
    public var savedAtMilliseconds: Int64
    /// The dictionary that a client of CloudKit Web Services saved it as, completed; nil if it was saved otherwise.
    ///
    /// The same subscription in the client's own words, which the client gets back.
    public var cloudKitJSON: [UInt8]?

    /// Creates a subscription.
    public init(
        key: SubscriptionKey, kind: SubscriptionKind = .query, database: RecordDatabase = .public,
        zoneName: String? = nil, recordType: String?, predicate: Predicate = .always,
        firesOn: FiringOperations = .all, firesOnce: Bool = false, notification: NotificationInfo = NotificationInfo(),
        savedAtMilliseconds: Int64
    ) {
        self.key = key
        self.kind = kind
        self.database = database
        self.zoneName = zoneName
        self.recordType = recordType
        self.predicate = predicate
        self.firesOn = firesOn
        self.firesOnce = firesOnce
        self.notification = notification
        self.savedAtMilliseconds = savedAtMilliseconds
    }

    /// The bytes of its definition that count against quotas: the canonical form of its predicate, its notification as
    /// JSON, and the dictionary of a client of CloudKit Web Services.
    public var storedBytes: Int {
        predicate.canonicalBytes.count + notification.json.count + (cloudKitJSON?.count ?? 0)
    }
}

/// Names a subscription: its identifier is unique among those of its owner in the app.
public struct SubscriptionKey: Hashable, Sendable {
    /// The app.
    public var app: String
    /// The owner.
    public var owner: SubscriptionOwner
    /// The name that the client gave it, 1 to 256 bytes.
    @ByBytes public var subscriptionID: String

    /// Creates a key.
    public init(app: String, owner: SubscriptionOwner, subscriptionID: String) {
        self.app = app
        self.owner = owner
        self.subscriptionID = subscriptionID
    }
}

/// The owner of a subscription, which decides the devices of its pushes.
public enum SubscriptionOwner: Hashable, Sendable {
    /// All devices that the user has in the app.
    case user(String)
    /// One device.
    case device(String)

    /// The name of the user or device.
    public var name: String {
        switch self {
        case .user(let name), .device(let name): name
        }
    }

    /// Whether it is a user.
    public var isUser: Bool { if case .user = self { true } else { false } }

    /// Whether two owners are the same, their names having the same bytes.
    public static func == (left: SubscriptionOwner, right: SubscriptionOwner) -> Bool {
        left.isUser == right.isUser && left.name.hasBytes(of: right.name)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isUser)
        hasher.combine(ByteText(name))
    }
}

/// The subject of a subscription (CloudKit's `CKSubscription.SubscriptionType`).
public enum SubscriptionKind: String, CaseIterable, Hashable, Sendable {
    /// Records of one type that satisfy a predicate.
    case query
    /// Everything in one zone of a user's private database.
    case zone
    /// Everything in a user's private or shared database.
    case database

    /// CloudKit's number of it.
    public var cloudKitNumber: Int {
        switch self {
        case .query: 1
        case .zone: 2
        case .database: 3
        }
    }

    /// The kind with a number of CloudKit's, which is also what registries store; nil if there is none.
    public init?(cloudKitNumber: Int64) {
        guard let kind = Self.allCases.first(where: { $0.cloudKitNumber == cloudKitNumber }) else { return nil }
        self = kind
    }
}

/// A subscription with its row in the registry.
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
