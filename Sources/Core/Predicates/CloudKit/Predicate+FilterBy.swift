public import JSON

extension Predicate {
    /// Reads a predicate from CloudKit's filters, the `filterBy` of a query: all of them must hold.
    ///
    ///     [{"comparator": "EQUALS", "fieldName": "artist", "fieldValue": {"value": "Mei Chen", "type": "STRING"}}]
    ///
    /// | comparator | holds where |
    /// |---|---|
    /// | `EQUALS`, `NOT_EQUALS` | the value is equal, or not; the case of texts does not count |
    /// | `LESS_THAN`, `GREATER_THAN`, `…_OR_EQUALS` | numbers, dates and texts (by their bytes) are in that order |
    /// | `IN`, `NOT_IN` | the value equals one of a list; case counts |
    /// | `BEGINS_WITH`, `NOT_…` | the text begins so; case counts |
    /// | `LIST_CONTAINS`, `…_ANY`, `…_ALL`, `NOT_LIST_…` | the list has the value, one of several, all of them |
    /// | `LIST_MEMBER_BEGINS_WITH`, `NOT_…` | the list has a text that begins so |
    /// | `CONTAINS_ANY_TOKENS`, `CONTAINS_ALL_TOKENS` | a word, or each, is in the field, or in any without one |
    /// | `NEAR` | the place is nearer to `fieldValue` than `distance` metres |
    ///
    /// The `type` of a `fieldValue` may be left out, except that of dates and bytes, which look like numbers and texts.
    /// Words are compared without case and diacritics. A negative comparator holds for records without the field too.
    ///
    /// - Parameters:
    ///   - filterBy: the array of filters; `null` stands for none, which every record satisfies.
    ///   - path: where it lies, for messages.
    /// - Throws: `PredicateError` with the path of the member that is wrong: `filterBy[2].comparator`.
    public init(filterBy: JSONValue, path: String = "filterBy") throws(PredicateError) {
        try PredicateFault.checkWritten(filterBy, at: path)
        var predicates: [Predicate] = []
        if !filterBy.isNull {
            guard let filters = filterBy.array else {
                throw PredicateFault.mismatch(path, filterBy, "an array of filters")
            }
            for (index, filter) in filters.enumerated() {
                let path = "\(path)[\(index)]"
                guard index < PredicateLimits.termsMaximum else {
                    throw PredicateError(
                        .tooLarge, at: .member(path),
                        "at most \(PredicateLimits.termsMaximum) filters are accepted")
                }
                predicates.append(try CloudKitFilter(filter, path: path).predicate())
            }
        }
        self = try PredicateFault.locating(path) { () throws(PredicateError) in try Predicate.all(of: predicates) }
    }

    /// Writes the predicate as CloudKit's filters, an array that `init(filterBy:path:)` reads as the same predicate.
    ///
    /// CloudKit has no OR and lacks the opposite of some comparators, so not every predicate can be written.
    ///
    /// - Parameter writer: where the array goes.
    /// - Returns: false if it cannot be written so; then nothing has been.
    public func writeFilterBy(to writer: inout JSONWriter) -> Bool {
        guard conjunctions.count == 1, let terms = conjunctions.first else { return false }
        var filters: [CloudKitFilterText] = []
        for term in terms {
            guard let found = CloudKitFilterText.filters(of: term) else { return false }
            filters += found
        }
        guard filters.count <= PredicateLimits.termsMaximum else { return false }
        writer.beginArray()
        for filter in filters { filter.write(to: &writer) }
        writer.endArray()
        return true
    }
}
