public import Essentials
public import Predicates

/// A wish to hear of changes of records.
public struct RecordSubscription: Hashable, Sendable {
    /// Its name.
    public var key: SubscriptionKey
    /// What it watches.
    public var kind: SubscriptionKind
    /// The database that it watches.
    public var database: RecordDatabase
    /// The zone that it watches; nil for all zones.
    @ByBytes public var zoneName: String?
    /// The type of the records that it watches; nil for all types, which a query cannot have.
    @ByBytes public var recordType: String?
    /// What the records must satisfy; `.always` unless it is a query.
    public var predicate: Predicate
    /// Which changes it hears of.
    public var firesOn: FiringOperations
    /// Whether it ends with its first push.
    public var firesOnce: Bool
    /// What its pushes say.
    public var notification: NotificationInfo
    /// When it was saved last, in milliseconds since 1970.
    public var savedAtMilliseconds: Int64
    /// The dictionary that a client of CloudKit Web Services saved it as, completed; nil if it was saved otherwise.
    ///
    /// It tells the same in the client's own words, which the client gets back. A registry answers it with what it is
    /// asked for by name or as a list, and not with what an event is pushed to.
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

    /// What its definition counts against quotas, in bytes: the canonical form of its predicate, its notification as
    /// JSON, and what a client of CloudKit Web Services saved.
    public var storedBytes: Int {
        predicate.canonicalBytes.count + notification.json.count + (cloudKitJSON?.count ?? 0)
    }
}
