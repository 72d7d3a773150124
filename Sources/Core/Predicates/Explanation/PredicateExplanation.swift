public import JSON

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

    /// One of the conjunctions; any one of them suffices.
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

extension PredicateExplanation: CustomStringConvertible {
    /// Lines for people, without a line break at the end.
    public var description: String {
        var lines = [isMatch ? "The record matches." : "The record does not match."]
        if alternatives.isEmpty { lines.append("  no   FALSEPREDICATE: no record does") }
        for (index, alternative) in alternatives.enumerated() {
            let indentation = alternatives.count > 1 ? "    " : "  "
            if alternatives.count > 1 {
                lines.append(
                    "  alternative \(index + 1) of \(alternatives.count): \(alternative.isMatch ? "yes" : "no")")
            }
            if alternative.clauses.isEmpty { lines.append("\(indentation)yes  TRUEPREDICATE: every record does") }
            for clause in alternative.clauses {
                lines.append("\(indentation)\(clause.holds ? "yes" : "no ")  \(clause.text): \(clause.reason)")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Writes the explanation as a JSON object.
    ///
    ///     {"matches": false, "predicate": "…", "alternatives": [{"matches": false, "clauses":
    ///         [{"clause": "price <= 20", "holds": false, "reason": "the record has 25"}]}]}
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("matches", isMatch)
        writer.member("predicate", predicate)
        writer.array("alternatives", alternatives) { writer, alternative in
            writer.member("matches", alternative.isMatch)
            writer.array("clauses", alternative.clauses) { writer, clause in
                writer.member("clause", clause.text)
                writer.member("holds", clause.holds)
                writer.member("reason", clause.reason)
            }
        }
        writer.endObject()
    }
}
