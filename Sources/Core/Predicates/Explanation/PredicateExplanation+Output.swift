public import JSON

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
        writer.key("matches")
        writer.boolean(isMatch)
        writer.key("predicate")
        writer.string(predicate)
        writer.key("alternatives")
        writer.beginArray()
        for alternative in alternatives {
            writer.beginObject()
            writer.key("matches")
            writer.boolean(alternative.isMatch)
            writer.key("clauses")
            writer.beginArray()
            for clause in alternative.clauses {
                writer.beginObject()
                writer.key("clause")
                writer.string(clause.text)
                writer.key("holds")
                writer.boolean(clause.holds)
                writer.key("reason")
                writer.string(clause.reason)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
