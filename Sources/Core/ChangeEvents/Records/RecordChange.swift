public import Predicates

/// A change of a record.
public struct RecordChange: Hashable, Sendable {
    /// The ways in which a record changes.
    public enum Operation: String, CaseIterable, Hashable, Sendable {
        /// It is new.
        case created
        /// Some of its fields changed.
        case updated
        /// It is gone.
        case deleted

        /// The same as a set of one.
        public var firing: FiringOperations {
            switch self {
            case .created: .created
            case .updated: .updated
            case .deleted: .deleted
            }
        }

        /// CloudKit's number of it (`CKQueryNotification.Reason`).
        public var cloudKitReason: Int {
            switch self {
            case .created: 1
            case .updated: 2
            case .deleted: 3
            }
        }
    }

    /// The kind of the change.
    public var operation: Operation
    /// The app whose subscribers hear of it; nil for all apps.
    public var app: String?
    /// The type of the record.
    public var recordType: String
    /// The name of the record.
    public var recordName: String
    /// Its fields: as they are after the change; of a deleted record, as they were.
    public var fields: RecordFields
    /// The zone that it lies in.
    public var zoneName: String
    /// The database that it lies in.
    public var database: RecordDatabase
    /// The user whose database it is; always there unless the database is public.
    public var ownerID: String?
    /// The device that made the change, which is not notified.
    public var deviceID: String?

    /// Creates a change.
    public init(
        operation: Operation, app: String? = nil, recordType: String, recordName: String, fields: RecordFields,
        zoneName: String = FieldValue.defaultZoneName, database: RecordDatabase = .public, ownerID: String? = nil,
        deviceID: String? = nil
    ) {
        self.operation = operation
        self.app = app
        self.recordType = recordType
        self.recordName = recordName
        self.fields = fields
        self.zoneName = zoneName
        self.database = database
        self.ownerID = ownerID
        self.deviceID = deviceID
    }
}

/// CloudKit's database of a record, which decides who may see it.
public enum RecordDatabase: String, CaseIterable, Hashable, Sendable {
    /// Everyone's.
    case `public`
    /// One user's own.
    case `private`
    /// Records that other users share with one user.
    case shared

    /// CloudKit's number of it (`CKDatabase.Scope`).
    public var cloudKitNumber: Int {
        switch self {
        case .public: 1
        case .private: 2
        case .shared: 3
        }
    }

    /// The database with a number of CloudKit's, which is also what registries store; nil if there is none.
    public init?(cloudKitNumber: Int64) {
        guard let database = Self.allCases.first(where: { $0.cloudKitNumber == cloudKitNumber }) else { return nil }
        self = database
    }
}
