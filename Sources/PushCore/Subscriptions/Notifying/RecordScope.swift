internal import UnicodeText

/// The paths under which the index finds where a record lies; no field of a record can have them.
enum RecordScope {
    static let database = "$database"
    static let zone = "$zone"
    static let owner = "$owner"

    /// A predicate as the index sees it: the condition on fields, and on where the record lies.
    static func predicate(
        _ predicate: Predicate, database: RecordDatabase, owner: String?, zoneName: String?
    ) -> Predicate {
        var scope = [PredicateTerm(RecordScope.database, .equals(.string(database.rawValue), .exact))]
        if database != .public, let owner {
            scope.append(PredicateTerm(RecordScope.owner, .equals(.of(owner), .exact)))
        }
        if let zoneName { scope.append(PredicateTerm(RecordScope.zone, .equals(.of(zoneName), .exact))) }
        // These paths come before those of all fields, so what was in order stays in order.
        return Predicate(normalized: predicate.conjunctions.map { scope + $0 })
    }
}

extension RecordChange {
    /// The record as the index sees it: its fields, and where it lies.
    public var matchedFields: RecordFields {
        var matched = fields
        matched[RecordScope.database] = .string(database.rawValue)
        matched[RecordScope.zone] = .of(zoneName)
        if let ownerID { matched[RecordScope.owner] = .of(ownerID) }
        return matched
    }
}
