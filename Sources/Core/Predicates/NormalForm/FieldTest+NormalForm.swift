internal import UnicodeText

extension FieldTest {
    /// The one form of all equivalent tests, as far as the test alone shows it.
    ///
    /// - Throws: `PredicateError` `.invalidValue` or `.tooLarge`.
    func normalized() throws(PredicateError) -> NormalTest {
        switch self {
        case .equals(let value, let folding):
            return .test(.equals(try value.normalized(folding), value.hasText ? folding : .exact))
        case .isIn(let values, let folding):
            let members = try Self.members(values, folding)
            let folding = members.contains(where: \.hasText) ? folding : .exact
            guard let first = members.first else { return .never }
            return .test(members.count == 1 ? .equals(first, folding) : .isIn(members, folding))
        case .isInRange(let range): return try range.normalizedTest()
        case .beginsWith(let text): return .test(try Self.textTest(text, FieldTest.beginsWith))
        case .containsText(let text): return .test(try Self.textTest(text, FieldTest.containsText))
        case .listContains(let value, let folding):
            return .test(.listContains(try value.normalized(folding), value.hasText ? folding : .exact))
        case .listContainsAny(let values, let folding):
            let members = try Self.members(values, folding)
            let folding = members.contains(where: \.hasText) ? folding : .exact
            guard let first = members.first else { return .never }
            return .test(members.count == 1 ? .listContains(first, folding) : .listContainsAny(members, folding))
        case .listMemberBeginsWith(let text):
            guard !text.isEmpty else {
                throw PredicateError(.invalidValue, "the beginning of a list's member must not be empty")
            }
            return .test(.listMemberBeginsWith(try FieldValue.normalized(text)))
        case .containsAnyToken(let words): return try Self.tokenTest(words)
        case .isWithin(let centre, let radiusMetres):
            guard radiusMetres.isFinite else {
                throw PredicateError(.invalidValue, "the distance is no finite number of metres")
            }
            return radiusMetres > 0 ? .test(.isWithin(centre, radiusMetres: radiusMetres)) : .never
        }
    }

    /// Values in order, without duplicates; of equal values the first in order is kept.
    static func members(_ values: [FieldValue], _ folding: TextFolding) throws(PredicateError) -> [FieldValue] {
        guard values.count <= PredicateLimits.intermediateTermsMaximum else {
            throw PredicateError(.tooLarge, "there are \(values.count) values, far too many")
        }
        var members: [(value: FieldValue, bytes: [UInt8])] = []
        for value in values {
            let member = try value.normalized(folding)
            members.append((member, CanonicalWriter.bytes(of: member)))
        }
        members.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        var keys: Set<FieldValue> = []
        let distinct = members.map(\.value).filter { keys.insert($0.comparisonKey).inserted }
        try FieldValue.check(memberCount: distinct.count)
        return distinct
    }

    /// A test of the beginning or of a part of a text; all texts have the empty one, and all are at least as great.
    private static func textTest(
        _ text: String, _ test: (String) -> FieldTest
    ) throws(PredicateError) -> FieldTest {
        let text = try FieldValue.normalized(text)
        return text.isEmpty
            ? .isInRange(ValueRange(lower: .init(.string(""), isIncluded: true), upper: nil)) : test(text)
    }

    /// A text that is no word of a search cannot be found in any text.
    private static func tokenTest(_ words: [String]) throws(PredicateError) -> NormalTest {
        guard words.count <= PredicateLimits.intermediateTermsMaximum else {
            throw PredicateError(.tooLarge, "there are \(words.count) words, far too many")
        }
        var wanted: Set<String> = []
        for word in words where SearchTokens.of(word) == [word] { wanted.insert(try FieldValue.normalized(word)) }
        guard wanted.count <= PredicateLimits.wordsMaximum else {
            throw PredicateError(
                .tooLarge,
                "there are \(wanted.count) words; at most \(PredicateLimits.wordsMaximum) can be searched for")
        }
        guard !wanted.isEmpty else { return .never }
        return .test(.containsAnyToken(wanted.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }))
    }
}

extension ValueRange {
    /// The one form of all ranges that hold the same values.
    ///
    /// - Throws: `PredicateError` `.invalidValue` or `.tooLarge`, if a bound is no value to compare with.
    func normalizedTest() throws(PredicateError) -> NormalTest {
        let lower = try Self.normalized(lower)
        let upper = try Self.normalized(upper)
        for bound in [lower, upper] {
            // A value that is not even ordered against itself is ordered against nothing.
            if let bound, bound.value.order(against: bound.value) == nil { return .never }
        }
        guard let lower, let upper else { return .test(.isInRange(ValueRange(lower: lower, upper: upper))) }
        switch lower.value.order(against: upper.value) {
        case .before: return .test(.isInRange(ValueRange(lower: lower, upper: upper)))
        case .same:
            guard lower.isIncluded, upper.isIncluded else { return .never }
            return .test(.equals(Self.first(lower.value, upper.value), .exact))
        case .after, nil: return .never
        }
    }

    /// The values that two ranges share.
    ///
    /// Nil if two bounds have no common order, such as a text and a number: then the intersection is empty.
    func intersection(_ other: ValueRange) -> ValueRange? {
        guard let lower = Self.tighter(lower, other.lower, .after),
            let upper = Self.tighter(upper, other.upper, .before)
        else { return nil }
        return ValueRange(lower: lower, upper: upper)
    }

    private static func normalized(_ bound: Bound?) throws(PredicateError) -> Bound? {
        guard let bound else { return nil }
        return Bound(try bound.value.normalized(.exact), isIncluded: bound.isIncluded)
    }

    /// The bound that lets less through, absent if both are; nil if they cannot be compared.
    private static func tighter(_ left: Bound?, _ right: Bound?, _ order: ValueOrder) -> Bound?? {
        guard let left, let right else { return .some(left ?? right) }
        switch left.value.order(against: right.value) {
        case nil: return nil
        case .same:
            return Bound(first(left.value, right.value), isIncluded: left.isIncluded && right.isIncluded)
        case let found: return found == order ? left : right
        }
    }

    private static func first(_ left: FieldValue, _ right: FieldValue) -> FieldValue {
        CanonicalWriter.bytes(of: right).lexicographicallyPrecedes(CanonicalWriter.bytes(of: left)) ? right : left
    }
}

/// The result of bringing a test into normal form.
enum NormalTest {
    /// It can be passed and failed.
    case test(FieldTest)
    /// No value passes it.
    case never
}
