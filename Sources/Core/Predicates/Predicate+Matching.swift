internal import Geography
internal import UnicodeText

extension Predicate {
    /// Whether a record satisfies the predicate, found term by term.
    ///
    /// This is what the predicate means; the index must find exactly the same.
    public func matches(_ fields: RecordFields) -> Bool {
        conjunctions.contains { terms in terms.allSatisfy { $0.matches(fields) } }
    }
}

extension PredicateTerm {
    /// Whether the term holds for a record.
    public func matches(_ fields: RecordFields) -> Bool {
        if path.isEmpty {
            return fields.values.contains { test.passes($0) } != isNegated
        }
        return (fields[path].map { test.passes($0) } ?? false) != isNegated
    }
}

extension FieldTest {
    /// Whether a value passes the test.
    public func passes(_ value: FieldValue) -> Bool {
        switch self {
        case .equals(let wanted, let folding): value.isEqual(to: wanted, folding)
        case .isIn(let wanted, let folding): wanted.contains { value.isEqual(to: $0, folding) }
        case .isInRange(let range): range.contains(value)
        case .beginsWith(let prefix): value.isText { $0.utf8.starts(with: prefix.utf8) }
        case .containsText(let part): value.isText { Self.occurs(Array(part.utf8), in: Array($0.utf8)) }
        case .listContains(let wanted, let folding): value.hasMember { $0.isEqual(to: wanted, folding) }
        case .listContainsAny(let wanted, let folding):
            value.hasMember { member in wanted.contains { member.isEqual(to: $0, folding) } }
        case .listMemberBeginsWith(let prefix):
            value.hasMember { member in member.isText { $0.utf8.starts(with: prefix.utf8) } }
        case .containsAnyToken(let words):
            value.isText { Self.anyWord(of: words, occursIn: $0) }
                || value.hasMember { member in member.isText { Self.anyWord(of: words, occursIn: $0) } }
        case .isWithin(let centre, let radiusMetres):
            if case .location(let place) = value { centre.distanceMetres(to: place) < radiusMetres } else { false }
        }
    }

    private static func anyWord(of words: [String], occursIn text: String) -> Bool {
        let tokens = SearchTokens.of(text)
        return words.contains { tokens.contains($0) }
    }

    private static func occurs(_ part: [UInt8], in text: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        var start = 0
        while start + part.count <= text.count {
            if text[start] == first, text[start...].starts(with: part) { return true }
            start += 1
        }
        return false
    }
}

extension FieldValue {
    fileprivate func isText(_ satisfies: (String) -> Bool) -> Bool {
        if case .string(let text) = self { satisfies(text) } else { false }
    }

    fileprivate func hasMember(_ satisfies: (FieldValue) -> Bool) -> Bool {
        if case .list(let members) = self { members.contains(where: satisfies) } else { false }
    }
}
