public import Geography
public import Predicates

/// Random predicates, and records that they may match, in a world so small that they often do.
///
/// The seed repeats them. Values of all kinds meet in the same fields, with spellings and numbers that are equal though
/// they look different.
public struct RandomPredicates {
    /// The random numbers; others may be drawn from it too.
    public var generator: SeededGenerator

    /// The paths of fields that predicates ask for and records have.
    public static let paths = ["a", "b", "c.d", "größe", "odd name`\\", "in"]
    /// Texts with cases, diacritics, words and prefixes of each other; one is not in NFC.
    public static let texts = [
        "", "b", "bo", "Bob", "bob", "BOB Smith", "bob smith", "the", "Élan vital", "e\u{301}lan", "élan", "straße",
        "STRASSE", "\u{0}\n\"'\\`", "😀 smith",
    ]

    /// Creates the generator of predicates.
    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// A value of any kind, list or not.
    public mutating func value(listDepth: Int = 0) -> FieldValue {
        switch Int.random(in: 0..<(listDepth < 2 ? 12 : 10), using: &generator) {
        case 0...2: return .string(text())
        case 3: return .integer(.random(in: -2...4, using: &generator))
        case 4: return .integer([.min, .max, 9_007_199_254_740_993].randomElement(using: &generator) ?? 0)
        case 5:
            return .double(
                [0.5, -1.5, 2, 1e300, -0.0, 0x1p63, 0x1p64, -0x1.8p63].randomElement(using: &generator) ?? 0)
        case 6: return .boolean(.random(using: &generator))
        case 7: return .date(milliseconds: [1, 2, -1, 1_769_860_800_123, .max].randomElement(using: &generator) ?? 0)
        case 8: return .bytes(Array(repeating: 7, count: Int.random(in: 0...2, using: &generator)))
        case 9: return Bool.random(using: &generator) ? reference() : .location(place())
        default: return .list(values(0...3, listDepth: listDepth + 1))
        }
    }

    /// Several values.
    public mutating func values(_ counts: ClosedRange<Int>, listDepth: Int = 0) -> [FieldValue] {
        (0..<Int.random(in: counts, using: &generator)).map { _ in value(listDepth: listDepth) }
    }

    /// One of the texts.
    public mutating func text() -> String { Self.texts.randomElement(using: &generator) ?? "" }

    /// A reference into the default zone or another.
    public mutating func reference() -> FieldValue {
        let zoneName = [FieldValue.defaultZoneName, "e\u{301}lan", "b"].randomElement(using: &generator)
        return .reference(recordName: text(), zoneName: zoneName ?? "b")
    }

    /// A place in or around Berlin.
    public mutating func place() -> Location {
        let latitude = 52.5 + Double(Int.random(in: 0...3, using: &generator)) / 100
        let longitude = 13.4 + Double(Int.random(in: 0...3, using: &generator)) / 100
        guard let place = Location(latitude: latitude, longitude: longitude) else {
            preconditionFailure("Berlin is on the Earth")
        }
        return place
    }

    /// A record with some of the fields.
    public mutating func record() -> RecordFields {
        var fields = RecordFields()
        for path in Self.paths where Bool.random(using: &generator) {
            fields[path] = Self.canonical(value())
        }
        return fields
    }

    /// A random term, which need not be in normal form.
    public mutating func term() -> PredicateTerm {
        let test = test()
        var path = Self.paths.randomElement(using: &generator) ?? "a"
        if case .containsAnyToken = test, Int.random(in: 0...2, using: &generator) == 0 { path = "" }
        return PredicateTerm(path, test, isNegated: Int.random(in: 0...2, using: &generator) == 0)
    }

    /// A disjunction of conjunctions of terms in any form.
    public mutating func conjunctions() -> [[PredicateTerm]] {
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            (0..<Int.random(in: 0...4, using: &generator)).map { _ in term() }
        }
    }

    /// A predicate in normal form.
    ///
    /// - Throws: `PredicateError` never, unless normal form is broken: these are within all limits.
    public mutating func predicate() throws(PredicateError) -> Predicate { try Predicate(anyOf: conjunctions()) }

    private mutating func test() -> FieldTest {
        let folding: TextFolding = Bool.random(using: &generator) ? .exact : .caseInsensitive
        switch Int.random(in: 0..<13, using: &generator) {
        case 0...2: return .equals(value(), folding)
        case 3: return .isIn(values(0...4), folding)
        case 4...6: return .isInRange(range())
        case 7: return .beginsWith(text())
        case 8: return .containsText(text())
        case 9: return .listContains(value(listDepth: 1), folding)
        case 10: return .listContainsAny(values(0...3, listDepth: 1), folding)
        case 11:
            return Bool.random(using: &generator)
                ? .listMemberBeginsWith("bo") : .isWithin(place(), radiusMetres: [0, 800, 2000][Int(text().count % 3)])
        default:
            return .containsAnyToken([["bob"], ["smith", "elan"], [], ["the"], ["bob", "bob"]][text().count % 5])
        }
    }

    private mutating func range() -> ValueRange {
        let lower = ValueRange.Bound(value(), isIncluded: .random(using: &generator))
        let upper = ValueRange.Bound(value(), isIncluded: .random(using: &generator))
        switch Int.random(in: 0...2, using: &generator) {
        case 0: return ValueRange(lower: lower, upper: nil)
        case 1: return ValueRange(lower: nil, upper: upper)
        default: return ValueRange(lower: lower, upper: upper)
        }
    }

    /// The form in which a record holds a value.
    private static func canonical(_ value: FieldValue) -> FieldValue {
        switch value {
        case .string(let text): .of(text)
        case .reference(let recordName, let zoneName): .reference(to: recordName, zoneName: zoneName)
        case .double(let number): .of(number) ?? .integer(0)
        case .list(let members): .list(members.map(canonical))
        case .integer, .boolean, .date, .bytes, .location: value
        }
    }
}
