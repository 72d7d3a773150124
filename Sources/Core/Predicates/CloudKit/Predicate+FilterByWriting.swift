public import JSON

extension Predicate {
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
