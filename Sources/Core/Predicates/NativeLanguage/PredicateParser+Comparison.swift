internal import Geography
internal import UnicodeText

/// Comparisons of a field with a value.
extension PredicateParser {
    mutating func parseComparison() throws(PredicateError) -> PredicateTerm {
        let start = token.start
        switch token.kind {
        case .word(.any), .word(.some):
            try advance()
            return try parseMemberComparison(try parsePath("the field with the list"))
        case .word(.all), .word(.none):
            throw lexer.fault(
                .invalidOperator, at: start, "\(token.found); of a list, only ANY or SOME member can be asked for")
        case .word(.this):
            try advance()
            return try parseSearch(path: "", try parseOperator())
        case .distance: return try parseDistance()
        case .name:
            // A name before a parenthesis is that of a function, which makes a value.
            if try isCall() { return try parseFlippedComparison() }
            return try parseFieldComparison(try parsePath("a field"))
        case .text, .number, .symbol("{"), .word(.isTrue), .word(.isFalse), .word(.yes), .word(.no):
            return try parseFlippedComparison()
        default:
            throw unexpected("a field, a value, NOT, ANY, (, TRUEPREDICATE or FALSEPREDICATE")
        }
    }

    // MARK: - Operators

    private mutating func parsePath(_ expected: String) throws(PredicateError) -> String {
        guard case .name(let path) = token.kind else { throw unexpected(expected) }
        let start = token.start
        do throws(PredicateError) {
            let path = try PredicateTerm.normalizedPath(path)
            guard !path.isEmpty else { throw PredicateError(.invalidPath, "the name of the field is empty") }
            try advance()
            return path
        } catch {
            throw error.located(at: lexer.location(of: start))
        }
    }

    private mutating func parseOperator() throws(PredicateError) -> PredicateOperator {
        let found = token
        let kind: PredicateOperator.Kind?
        let text: String
        switch found.kind {
        case .symbol(let symbol): (kind, text) = (PredicateOperator.kind(ofSymbol: symbol), symbol)
        case .word(let word): (kind, text) = (PredicateOperator.kind(ofWord: word), word.rawValue)
        default: (kind, text) = (nil, "")
        }
        guard let kind else {
            switch found.kind {
            case .word(.endsWith), .word(.like), .word(.matches):
                throw lexer.fault(
                    .invalidOperator, at: found.start,
                    "\(text) is not supported; texts are compared by =, IN, BEGINSWITH, CONTAINSTEXT and TOKENMATCHES")
            default:
                throw unexpected(
                    "an operator: = != < <= > >= BETWEEN IN BEGINSWITH CONTAINS CONTAINSTEXT TOKENMATCHES")
            }
        }
        try advance()
        let options = try parseOptions()
        let comparison = PredicateOperator(kind: kind, options: options, text: text, start: found.start)
        guard options.isEmpty || comparison.optionsAllowed.contains(options) else {
            let allowed = comparison.optionsAllowed.map { "[\($0)]" }.joined(separator: " or ")
            throw lexer.fault(
                .invalidOperator, at: found.start,
                "\(text) cannot be followed by [\(options)]; expected \(allowed.isEmpty ? "nothing" : allowed)")
        }
        return comparison
    }

    private mutating func parseOptions() throws(PredicateError) -> String {
        guard try accept("[") else { return "" }
        guard case .name(let letters) = token.kind, letters.utf8.count <= 8 else {
            throw unexpected("c (case does not count) or n (everything counts)")
        }
        try advance()
        try expect("]")
        return letters.lowercased()
    }

    // MARK: - Comparisons

    private mutating func parseFieldComparison(_ path: String) throws(PredicateError) -> PredicateTerm {
        let comparison = try parseOperator()
        switch comparison.kind {
        case .isIn:
            return PredicateTerm(path, .isIn(try parseMembers(), comparison.folding(otherwise: .exact)))
        case .between: return PredicateTerm(path, try parseBetween())
        case .beginsWith: return PredicateTerm(path, .beginsWith(try parseText()))
        case .containsText: return PredicateTerm(path, .containsText(try parseText()))
        case .tokenMatches: return try parseSearch(path: path, comparison)
        case .contains:
            return PredicateTerm(path, .listContains(try parseValue(), comparison.folding(otherwise: .exact)))
        case .equals, .differs, .isLess, .isAtMost, .isGreater, .isAtLeast:
            let start = token.start
            let value = try parseValue()
            return try term(path, comparison, comparison.kind, value, valueStart: start)
        }
    }

    /// A comparison whose value stands on the left.
    private mutating func parseFlippedComparison() throws(PredicateError) -> PredicateTerm {
        let start = token.start
        let value = try parseValue()
        let comparison = try parseOperator()
        switch comparison.kind {
        case .isIn:
            let path = try parsePath("the field with the list")
            return PredicateTerm(path, .listContains(value, comparison.folding(otherwise: .exact)))
        case .equals, .differs, .isLess, .isAtMost, .isGreater, .isAtLeast:
            let path = try parsePath("a field")
            return try term(path, comparison, comparison.flipped, value, valueStart: start)
        default:
            throw lexer.fault(
                .invalidOperator, at: comparison.start,
                "\(comparison.text) must have the field on its left and the value on its right")
        }
    }

    private func term(
        _ path: String, _ comparison: PredicateOperator, _ kind: PredicateOperator.Kind, _ value: FieldValue,
        valueStart: Int
    ) throws(PredicateError) -> PredicateTerm {
        // As CKQuery says: equality of texts does not mind their case, and everything else does.
        let folding = comparison.folding(otherwise: .caseInsensitive)
        switch kind {
        case .equals: return PredicateTerm(path, .equals(value, folding))
        case .differs: return PredicateTerm(path, .equals(value, folding), isNegated: true)
        default: break
        }
        guard value.order(against: value) != nil else {
            throw lexer.fault(
                .invalidValue, at: valueStart,
                "\(comparison.text) cannot order this; expected a number, a date or a text"
            )
        }
        let bound = ValueRange.Bound(value, isIncluded: kind == .isAtLeast || kind == .isAtMost)
        let isLower = kind == .isGreater || kind == .isAtLeast
        return PredicateTerm(path, .isInRange(ValueRange(lower: isLower ? bound : nil, upper: isLower ? nil : bound)))
    }

    private mutating func parseBetween() throws(PredicateError) -> FieldTest {
        let start = token.start
        let expected = "two values that can be ordered, such as {10, 20}"
        let values = try parseMembers()
        guard values.count == 2, values.allSatisfy({ $0.order(against: $0) != nil }) else {
            throw lexer.fault(.invalidValue, at: start, "BETWEEN must be followed by \(expected)")
        }
        return .isInRange(
            ValueRange(lower: .init(values[0], isIncluded: true), upper: .init(values[1], isIncluded: true)))
    }

    /// Parses the comparison after `ANY field`.
    private mutating func parseMemberComparison(_ path: String) throws(PredicateError) -> PredicateTerm {
        let comparison = try parseOperator()
        switch comparison.kind {
        case .equals:
            let folding = comparison.folding(otherwise: .caseInsensitive)
            return PredicateTerm(path, .listContains(try parseValue(), folding))
        case .isIn:
            return PredicateTerm(path, .listContainsAny(try parseMembers(), comparison.folding(otherwise: .exact)))
        case .beginsWith: return PredicateTerm(path, .listMemberBeginsWith(try parseText()))
        case .tokenMatches: return try parseSearch(path: path, comparison)
        default:
            throw lexer.fault(
                .invalidOperator, at: comparison.start,
                "\(comparison.text) cannot be asked of ANY member; expected = IN BEGINSWITH or TOKENMATCHES")
        }
    }

    /// Parses the search after `self`, or of one field.
    private mutating func parseSearch(
        path: String, _ comparison: PredicateOperator
    ) throws(PredicateError) -> PredicateTerm {
        guard comparison.kind == .contains || comparison.kind == .tokenMatches else {
            throw lexer.fault(
                .invalidOperator, at: comparison.start,
                "self stands for all fields, which can only be searched: self CONTAINS \"bob smith\"")
        }
        let start = token.start
        let words = SearchTokens.of(try parseText(), countMaximum: PredicateLimits.wordsMaximum + 1)
        guard !words.isEmpty else {
            throw lexer.fault(
                .invalidValue, at: start, "there is no word to search for; words such as \"the\" are ignored")
        }
        return PredicateTerm(path, .containsAnyToken(words))
    }

    // MARK: - Distances

    private mutating func parseDistance() throws(PredicateError) -> PredicateTerm {
        try advance()
        try expect("(", "(field, {latitude, longitude})")
        let path: String
        let centre: Location
        if case .name = token.kind, !(try isCall()) {
            path = try parsePath("a field")
            try expect(",")
            centre = try parseLocation()
        } else {
            centre = try parseLocation()
            try expect(",")
            path = try parsePath("a field")
        }
        try expect(")")
        let comparison = try parseOperator()
        guard comparison.kind == .isLess || comparison.kind == .isAtMost else {
            throw lexer.fault(
                .invalidOperator, at: comparison.start,
                "only what lies within a circle can be asked for; expected < and the distance in metres")
        }
        let start = token.start
        guard case .number(let number) = token.kind, let metres = number.metres, metres >= 0 else {
            throw lexer.fault(.invalidValue, at: start, "\(token.found); expected a distance in metres")
        }
        try advance()
        // The circle itself is outside; "at most so far away" is "nearer than the next number".
        return PredicateTerm(
            path, .isWithin(centre, radiusMetres: comparison.kind == .isAtMost ? metres.nextUp : metres))
    }
}

extension PredicateOperator {
    /// How texts are compared, as far as the letters in brackets say it.
    fileprivate func folding(otherwise folding: TextFolding) -> TextFolding {
        switch options {
        case "c": .caseInsensitive
        case "n": .exact
        default: folding
        }
    }
}

extension FieldValue {
    fileprivate var metres: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
