/// Whether a record satisfies a predicate, and why, clause by clause.
///
///     let explanation = PredicateExplanation(of: predicate, for: record)
///     print(explanation)
///
/// prints
///
///     The record does not match.
///       yes  artist = "mei chen": the record has "Mei Chen"
///       no   price <= 20: the record has 25
public struct PredicateExplanation: Hashable, Sendable {
    /// One test of one field.
    public struct Clause: Hashable, Sendable {
        /// The clause as it would be written: `price <= 20`.
        public var text: String
        /// Whether it holds.
        public var holds: Bool
        /// Why: `the record has 25`.
        public var reason: String
    }

    /// One of the conjunctions, any of which suffices.
    public struct Alternative: Hashable, Sendable {
        /// Its clauses; none for `TRUEPREDICATE`.
        public var clauses: [Clause]
        /// Whether all of them hold.
        public var isMatch: Bool { clauses.allSatisfy(\.holds) }
    }

    /// The predicate in its normal form, as text.
    public var predicate: String
    /// The alternatives; none for `FALSEPREDICATE`.
    public var alternatives: [Alternative]
    /// Whether the record satisfies the predicate.
    public var isMatch: Bool { alternatives.contains(where: \.isMatch) }

    /// Evaluates a predicate for a record.
    public init(of predicate: Predicate, for record: RecordFields) {
        self.predicate = predicate.description
        alternatives = predicate.conjunctions.map { terms in
            Alternative(
                clauses: terms.map { term in
                    Clause(
                        text: term.description, holds: term.matches(record),
                        reason: ClauseReason.text(of: term, for: record))
                })
        }
    }
}
