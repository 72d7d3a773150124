public import ChangeEvents
public import Predicates

/// The parts of a subscription that the matching index needs, and no more: a worker reads millions when it starts.
public struct FollowedSubscription: Hashable, Sendable {
    /// The row: a number that no other subscription ever gets.
    public var row: Int64
    /// The app.
    public var app: String
    /// The record type; nil for all.
    public var recordType: String?
    /// The condition on the fields, and on where the record lies.
    public var predicate: Predicate
    /// The changes that it matches.
    public var firesOn: FiringOperations

    /// Creates the followed parts of a subscription.
    ///
    /// - Parameters:
    ///   - row: its row.
    ///   - app: its app.
    ///   - recordType: the record type; nil for all.
    ///   - predicate: its condition on the fields.
    ///   - database: where its records lie.
    ///   - owner: the user that it belongs to; nil if it belongs to a device.
    ///   - zoneName: the zone that its records lie in; nil for all.
    ///   - firesOn: the changes that it matches.
    init(
        row: Int64, app: String, recordType: String?, predicate: Predicate, database: RecordDatabase, owner: String?,
        zoneName: String?, firesOn: FiringOperations
    ) {
        self.row = row
        self.app = app
        self.recordType = recordType
        let scope = RecordScope.terms(database: database, owner: owner, zoneName: zoneName)
        self.predicate = Predicate(normalized: predicate.conjunctions.map { scope + $0 })
        self.firesOn = firesOn
    }

    /// Creates the followed parts of a subscription from a registry's columns.
    ///
    /// - Parameters:
    ///   - row: its row.
    ///   - app: its app.
    ///   - recordType: the record type; nil for all.
    ///   - canonicalBytes: the canonical bytes of its condition on the fields.
    ///   - database: where its records lie.
    ///   - owner: the user that it belongs to; nil if it belongs to a device.
    ///   - zoneName: the zone that its records lie in; nil for all.
    ///   - firesOn: the changes that it matches.
    /// - Throws: `PredicateError` `.notCanonical` if the bytes are those of no predicate.
    public init(
        row: Int64, app: String, recordType: String?, canonicalBytes: UnsafeRawBufferPointer, database: RecordDatabase,
        owner: String?, zoneName: String?, firesOn: FiringOperations
    ) throws(PredicateError) {
        self.row = row
        self.app = app
        self.recordType = recordType
        let scope = RecordScope.terms(database: database, owner: owner, zoneName: zoneName)
        predicate = try Predicate(canonicalBytes: canonicalBytes, behind: scope)
        self.firesOn = firesOn
    }

    /// The followed parts of a subscription.
    public init(_ stored: StoredSubscription) {
        let subscription = stored.subscription
        var user: String?
        if case .user(let name) = subscription.key.owner { user = name }
        self.init(
            row: stored.row, app: subscription.key.app, recordType: subscription.recordType,
            predicate: subscription.predicate, database: subscription.database, owner: user,
            zoneName: subscription.zoneName, firesOn: subscription.firesOn)
    }
}

/// The paths under which the index finds where a record lies; no field of a record can have them.
enum RecordScope {
    static let database = "$database"
    static let zone = "$zone"
    static let owner = "$owner"

    /// The index's condition on the record's place; it precedes the condition on fields in each conjunction.
    ///
    /// These paths sort before those of all fields, so the order is kept.
    static func terms(database: RecordDatabase, owner: String?, zoneName: String?) -> [PredicateTerm] {
        var terms = [PredicateTerm(RecordScope.database, .equals(.string(database.rawValue), .exact))]
        if database != .public, let owner {
            terms.append(PredicateTerm(RecordScope.owner, .equals(.string(owner), .exact)))
        }
        if let zoneName { terms.append(PredicateTerm(RecordScope.zone, .equals(.string(zoneName), .exact))) }
        return terms
    }
}

extension RecordChange {
    /// The record as the index sees it: its fields, and where it lies.
    public var matchedFields: RecordFields {
        var matched = fields
        matched.reserveCapacity(fields.paths.count + 3)
        matched[RecordScope.database] = .string(database.rawValue)
        // Names, and not texts of the record: they are compared as they are, in no normal form.
        matched[RecordScope.zone] = .string(zoneName)
        if let ownerID { matched[RecordScope.owner] = .string(ownerID) }
        return matched
    }
}

/// One step of following the subscriptions of a registry.
public struct SubscriptionChanges: Hashable, Sendable {
    /// The change of one subscription; each may come more than once, and the last counts.
    public enum Change: Hashable, Sendable {
        /// It is there, and looks like this.
        case saved(FollowedSubscription)
        /// The subscription of that row is gone, or has fired its only push.
        case removed(Int64)
    }

    /// The changes, in order.
    public var changes: [Change]
    /// Where the next step begins.
    public var next: SubscriptionCursor
    /// Whether everything that had been committed when the step began is known now.
    public var isCaughtUp: Bool
    /// Whether all that was known before must be forgotten, because the log does not reach back to it.
    public var startsOver: Bool

    /// Creates a step.
    public init(changes: [Change], next: SubscriptionCursor, isCaughtUp: Bool, startsOver: Bool = false) {
        self.changes = changes
        self.next = next
        self.isCaughtUp = isCaughtUp
        self.startsOver = startsOver
    }
}

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
