public import Predicates

/// What the matching index needs to know of a subscription, and no more: a worker reads millions when it starts.
public struct FollowedSubscription: Hashable, Sendable {
    /// The row: a number that no other subscription ever gets.
    public var row: Int64
    /// The app.
    public var app: String
    /// The record type; nil for all.
    public var recordType: String?
    /// The condition on the fields, and on where the record lies.
    public var predicate: Predicate
    /// The changes that it hears of.
    public var firesOn: FiringOperations

    /// Creates what is followed of a subscription.
    ///
    /// - Parameters:
    ///   - row: its row.
    ///   - app: its app.
    ///   - recordType: the record type; nil for all.
    ///   - predicate: its condition on the fields.
    ///   - database: where its records lie.
    ///   - owner: the user that it belongs to; nil if it belongs to a device.
    ///   - zoneName: the zone that its records lie in; nil for all.
    ///   - firesOn: the changes that it hears of.
    public init(
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

    /// Creates what is followed of a subscription as a registry has it.
    ///
    /// - Parameters:
    ///   - row: its row.
    ///   - app: its app.
    ///   - recordType: the record type; nil for all.
    ///   - canonicalBytes: the canonical bytes of its condition on the fields.
    ///   - database: where its records lie.
    ///   - owner: the user that it belongs to; nil if it belongs to a device.
    ///   - zoneName: the zone that its records lie in; nil for all.
    ///   - firesOn: the changes that it hears of.
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

    /// What is followed of a subscription.
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
