public import Geography
internal import UnicodeText

/// A condition on the fields of a record, in the unique form of equal conditions: a disjunction of conjunctions.
///
/// Equal predicates are equal values, however they were written, as far as that is visible without the data. Terms are
/// sorted and unique, within a conjunction and among conjunctions (`Predicate+NormalForm.swift`).
public struct Predicate: Hashable, Sendable {
    /// The conjunctions; one of them suffices, and all its terms must hold.
    ///
    /// None at all is `FALSEPREDICATE`; one that is empty is `TRUEPREDICATE`.
    public private(set) var conjunctions: [[PredicateTerm]]

    /// Wraps conjunctions that are in normal form already.
    public init(normalized conjunctions: [[PredicateTerm]]) {
        self.conjunctions = conjunctions
    }

    /// Every record.
    public static let always = Predicate(normalized: [[]])
    /// No record.
    public static let never = Predicate(normalized: [])
}

/// One test of one field, or its opposite.
///
/// The negation is exact: every record that fails the test passes its negation, also one without the field.
public struct PredicateTerm: Hashable, Sendable {
    /// The path of the field, in NFC (`author.name`); empty for all fields, which only `containsAnyToken` can ask.
    public var path: String
    /// Whether the term holds where the test fails.
    public var isNegated: Bool
    /// The test.
    public var test: FieldTest

    /// Creates a term.
    public init(_ path: String, _ test: FieldTest, isNegated: Bool = false) {
        self.path = path
        self.isNegated = isNegated
        self.test = test
    }
}

/// The test of a term on the value of a field.
///
/// All conditions of the three languages reduce to these tests, so one index serves all. A missing field passes none of
/// them; neither does a value of a kind that the test does not name.
public enum FieldTest: Hashable, Sendable {
    /// The value equals this one.
    case equals(FieldValue, TextFolding)
    /// The value equals one of these: sorted, each once, at least two.
    case isIn([FieldValue], TextFolding)
    /// The value lies within bounds.
    case isInRange(ValueRange)
    /// The value is text that begins with this, case included; not empty.
    case beginsWith(String)
    /// The value is text that has this somewhere in it, case included; not empty.
    case containsText(String)
    /// The value is a list with a member that equals this one.
    case listContains(FieldValue, TextFolding)
    /// The value is a list with a member that equals one of these: sorted, each once, at least two.
    case listContainsAny([FieldValue], TextFolding)
    /// The value is a list with a text that begins with this, case included; not empty.
    case listMemberBeginsWith(String)
    /// The value is text, or a list of texts, in which one of these words occurs (`SearchTokens`): sorted, each once,
    /// not empty.
    ///
    /// The one test that may be about all fields of a record: then its term has an empty path.
    case containsAnyToken([String])
    /// The value is a place nearer to the centre than the radius; the circle itself is outside.
    case isWithin(Location, radiusMetres: Double)
}

extension Predicate {
    /// Whether a record satisfies the predicate, found term by term.
    ///
    /// This method defines the meaning of a predicate; the index must find exactly the same.
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
