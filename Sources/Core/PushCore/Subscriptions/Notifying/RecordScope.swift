public import Predicates

/// The paths under which the index finds where a record lies; no field of a record can have them.
enum RecordScope {
    static let database = "$database"
    static let zone = "$zone"
    static let owner = "$owner"

    /// What the index asks of where a record lies; in a predicate as the index sees it, this comes before the
    /// condition on fields, in each conjunction.
    ///
    /// These paths come before those of all fields, so what was in order stays in order.
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
        matched[RecordScope.database] = .string(database.rawValue)
        // Names, and not texts of the record: they are compared as they are, in no normal form.
        matched[RecordScope.zone] = .string(zoneName)
        if let ownerID { matched[RecordScope.owner] = .string(ownerID) }
        return matched
    }
}
