import Essentials
internal import Geography

/// Writes predicates and their parts as `Predicate.init(parsing:)` reads them.
enum PredicatePrinter {
    static func text(of predicate: Predicate) -> String {
        guard let first = predicate.conjunctions.first else { return PredicateWord.falsePredicate.rawValue }
        guard predicate.conjunctions.count > 1 else { return text(of: first) }
        return predicate.conjunctions.map { $0.count == 1 ? text(of: $0) : "(\(text(of: $0)))" }
            .joined(separator: " OR ")
    }

    static func text(of terms: [PredicateTerm]) -> String {
        terms.isEmpty
            ? PredicateWord.truePredicate.rawValue : terms.map { text(of: $0) }.joined(separator: " AND ")
    }

    static func text(of term: PredicateTerm) -> String {
        let path = text(ofPath: term.path)
        switch term.test {
        case .equals(let value, let folding):
            let isExact = folding == .exact && value.hasText
            return "\(path) \(term.isNegated ? "!=" : "=")\(isExact ? "[n]" : "") \(text(of: value))"
        case .isInRange(let range): return text(of: range, path, isNegated: term.isNegated)
        default: return (term.isNegated ? "NOT " : "") + text(of: term.test, path)
        }
    }

    private static func text(of test: FieldTest, _ path: String) -> String {
        switch test {
        case .isIn(let values, let folding): return "\(path) IN\(option(folding)) \(text(of: .list(values)))"
        case .beginsWith(let text): return "\(path) BEGINSWITH \(quoted(text, "\""))"
        case .containsText(let text): return "\(path) CONTAINSTEXT \(quoted(text, "\""))"
        case .listContains(let value, let folding): return "\(path) CONTAINS\(option(folding)) \(text(of: value))"
        case .listContainsAny(let values, let folding):
            return "ANY \(path) IN\(option(folding)) \(text(of: .list(values)))"
        case .listMemberBeginsWith(let text): return "ANY \(path) BEGINSWITH \(quoted(text, "\""))"
        case .containsAnyToken(let words):
            let verb = path == selfName ? PredicateWord.contains : .tokenMatches
            return "\(path) \(verb.rawValue) \(quoted(words.joined(separator: " "), "\""))"
        case .isWithin(let centre, let radiusMetres):
            let place = "{\(text(of: centre.latitude)), \(text(of: centre.longitude))}"
            return "distanceToLocation:fromLocation:(\(path), \(place)) < \(text(of: radiusMetres))"
        case .equals, .isInRange: return text(of: PredicateTerm(path, test))
        }
    }

    private static func text(of range: ValueRange, _ path: String, isNegated: Bool) -> String {
        if let lower = range.lower, let upper = range.upper, lower.isIncluded, upper.isIncluded {
            return "\(isNegated ? "NOT " : "")\(path) BETWEEN {\(text(of: lower.value)), \(text(of: upper.value))}"
        }
        var parts: [String] = []
        if let lower = range.lower { parts.append("\(path) >\(lower.isIncluded ? "=" : "") \(text(of: lower.value))") }
        if let upper = range.upper { parts.append("\(path) <\(upper.isIncluded ? "=" : "") \(text(of: upper.value))") }
        let text = parts.joined(separator: " AND ")
        guard isNegated else { return text }
        return parts.count == 1 ? "NOT \(text)" : "NOT (\(text))"
    }

    private static func option(_ folding: TextFolding) -> String { folding == .caseInsensitive ? "[c]" : "" }

    // MARK: - Parts

    /// How all fields together are written.
    private static let selfName = "self"

    static func text(ofPath path: String) -> String {
        if path.isEmpty { return selfName }
        return PredicateLexer.isPlainName(path) ? path : quoted(path, "`")
    }

    static func text(of value: FieldValue) -> String {
        switch value {
        case .string(let text): quoted(text, "\"")
        case .integer(let number): String(number)
        case .double(let number): text(of: number)
        case .boolean(let isTrue): isTrue ? "TRUE" : "FALSE"
        case .date(let milliseconds): "date(\(moment(milliseconds)))"
        case .bytes(let bytes): "bytes(\"\(Base64.encode(bytes))\")"
        case .reference(let recordName, FieldValue.defaultZoneName): "reference(\(quoted(recordName, "\"")))"
        case .reference(let recordName, let zoneName):
            "reference(\(quoted(recordName, "\"")), \(quoted(zoneName, "\"")))"
        case .location(let place): "location(\(text(of: place.latitude)), \(text(of: place.longitude)))"
        case .list(let members): "{\(members.map { text(of: $0) }.joined(separator: ", "))}"
        }
    }

    private static func moment(_ milliseconds: Int64) -> String {
        // Timestamps have years of four digits: the first and the last moment that have them.
        guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return String(milliseconds) }
        return "\"\(WallTime.text(milliseconds: milliseconds))\""
    }

    /// The shortest text that is read as the same number.
    static func text(of number: Double) -> String {
        if let integer = Int64(exactly: number), integer.magnitude < 1 << 53 { return String(integer) }
        return number.description
    }

    private static func quoted(_ text: String, _ quote: Unicode.Scalar) -> String {
        var quoted = String.UnicodeScalarView()
        quoted.append(quote)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", quote:
                quoted.append("\\")
                quoted.append(scalar)
            case "\n": quoted.append(contentsOf: "\\n".unicodeScalars)
            case "\r": quoted.append(contentsOf: "\\r".unicodeScalars)
            case "\t": quoted.append(contentsOf: "\\t".unicodeScalars)
            case let scalar where isVisible(scalar): quoted.append(scalar)
            default: quoted.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        quoted.append(quote)
        return String(quoted)
    }

    /// Whether a terminal shows the character, and shows it where it stands.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // The look-up of properties took half the time of a list of subscriptions.
        if scalar.isASCII { return (0x20..<0x7f).contains(scalar.value) }
        return scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
    }
}
