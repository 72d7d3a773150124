/// The records that an installation, or a user, wants to hear of, and what the pushes say.
///
/// It is what CloudKit has as `CKQuerySubscription`, `CKRecordZoneSubscription` and `CKDatabaseSubscription`. One of an
/// installation watches the public database, one of a user also private and shared ones.
public struct RecordInterest: Hashable, Sendable {
    /// The kind of a subscription.
    public enum Kind: String, Hashable, Sendable, Encodable {
        /// Records of one type that satisfy a predicate.
        case query
        /// Everything in a zone of the user's private database.
        case zone
        /// Everything in the user's private database, or in the one shared with the user.
        case database
    }

    /// A change of a record.
    public enum Change: String, Hashable, Sendable, Encodable, CaseIterable {
        /// It is new.
        case created
        /// Some of its fields changed.
        case updated
        /// It is gone.
        case deleted
    }

    /// The content of a push about a record.
    ///
    /// A push without title, text, sound and badge is silent.
    public struct Notification: Hashable, Sendable, Encodable {
        /// The title, in which `{field}` stands for a field of the record.
        public var title: String?
        /// The text, of the same form.
        public var alertBody: String?
        /// The key of the text in the app's strings.
        public var alertLocalizationKey: String?
        /// The fields whose values replace the placeholders of that text.
        public var alertLocalizationArgs: [String]?
        /// The name of the sound.
        public var soundName: String?
        /// Names the actions that the user is offered.
        public var category: String?
        /// Groups notifications, `{field}` included.
        public var threadID: String?
        /// The field whose value lets a push replace an earlier one.
        public var collapseIDKey: String?
        /// Whether the number on the app's icon goes up.
        public var shouldBadge: Bool?
        /// Whether the app is woken.
        public var shouldSendContentAvailable: Bool?
        /// Fields whose values go along with the push, at most three (`RecordPush.fields`).
        public var additionalFields: [String]?

        /// Creates a content that shows nothing.
        public init() {}
    }

    /// The kind of the subscription.
    public var kind: Kind
    /// The database.
    public var database: DatabaseScope
    /// The type of the records; necessary for a query, nil for all types otherwise.
    public var recordType: String?
    /// The zone; necessary for a zone.
    public var zoneName: String?
    /// The condition of a query, for example `artist = "Mei Chen" AND price <= 20`; nil for all records.
    public var predicate: String?
    /// The changes that lead to a push.
    public var changes: Set<Change> = Set(Change.allCases)
    /// Whether it ends with its first push.
    public var firesOnce = false
    /// The content of the pushes.
    public var notification = Notification()

    /// Records of one type that satisfy a predicate.
    public static func records(
        ofType recordType: String, where predicate: String? = nil, in database: DatabaseScope = .public
    ) -> RecordInterest {
        RecordInterest(kind: .query, database: database, recordType: recordType, predicate: predicate)
    }

    /// Everything in a zone of the user's private database.
    public static func zone(_ zoneName: String) -> RecordInterest {
        RecordInterest(kind: .zone, database: .private, zoneName: zoneName)
    }

    /// Everything in the user's private database, or in the one shared with the user.
    public static func everything(in database: DatabaseScope) -> RecordInterest {
        RecordInterest(kind: .database, database: database)
    }
}

extension RecordInterest: Encodable {
    private enum Key: String, CodingKey {
        case type, database, recordType, zoneName, predicate, firesOn, firesOnce, notificationInfo
    }

    /// Writes the body of the API's `PUT …/subscriptions/{subscriptionId}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(kind, forKey: .type)
        try container.encode(database.name, forKey: .database)
        try container.encodeIfPresent(recordType, forKey: .recordType)
        try container.encodeIfPresent(zoneName, forKey: .zoneName)
        try container.encodeIfPresent(predicate, forKey: .predicate)
        try container.encode(changes.map(\.rawValue).sorted(), forKey: .firesOn)
        if firesOnce { try container.encode(true, forKey: .firesOnce) }
        try container.encode(notification, forKey: .notificationInfo)
    }
}

extension DatabaseScope {
    /// The API's name of it.
    var name: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}

/// The owner of a subscription.
public enum InterestOwner: Hashable, Sendable {
    /// One installation.
    case device(String)
    /// A user of an app, with all installations, now and later.
    case user(String, app: String)
}
