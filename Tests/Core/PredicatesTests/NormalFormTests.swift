import Geography
import Predicates
import PushTestKit
import Testing
import UnicodeText

@Suite("Predicates: normal form")
struct NormalFormTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }

    /// Evaluates terms that are not in normal form by the definition; their texts must be composed for it.
    private func holds(_ conjunctions: [[PredicateTerm]], _ record: RecordFields) -> Bool {
        conjunctions.contains { terms in terms.allSatisfy { $0.composed.matches(record) } }
    }

    @Test("Normal form means the same as what it was made of, for every record", arguments: seeds)
    func preservesMeaning(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        var matched = 0
        for round in 0..<3000 {
            let conjunctions = random.conjunctions()
            let predicate = try Predicate(anyOf: conjunctions)
            for _ in 0..<6 {
                let record = random.record()
                let expected = holds(conjunctions, record)
                matched += expected ? 1 : 0
                guard predicate.matches(record) == expected else {
                    Issue.record("seed \(seed), round \(round): \(conjunctions) as \(predicate), record \(record)")
                    return
                }
            }
        }
        #expect(matched > 1000, "seed \(seed): the records must match often, or this shows nothing")
    }

    @Test("Normal form is its own normal form, however its parts are shuffled", arguments: seeds)
    func isIdempotent(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<3000 {
            let conjunctions = random.conjunctions()
            let predicate = try Predicate(anyOf: conjunctions)
            let again = try Predicate(anyOf: predicate.conjunctions)
            let shuffled = conjunctions.shuffled(using: &random.generator).map { terms in
                (terms + terms.prefix(1)).shuffled(using: &random.generator)
            }
            let other = try Predicate(anyOf: shuffled)
            guard again == predicate, other == predicate, other.canonicalBytes == predicate.canonicalBytes else {
                Issue.record("seed \(seed), round \(round): \(predicate) is not \(again), or not \(other)")
                return
            }
        }
    }

    @Test("A choice without texts meets one that ignores case, in any order")
    func choicesWithoutTexts() throws {
        let choices: [[FieldValue]] = [["bob", "carol"], ["bob", "dora"], ["erik"]].map { names in
            names.map(FieldValue.string) + [.integer(7)]
        }
        let terms = choices.map { PredicateTerm("b", .isIn($0, .caseInsensitive)) }
        let expected = try Predicate(PredicateTerm("b", .equals(.integer(7), .exact)))
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            #expect(try Predicate(anyOf: [order.map { terms[$0] }]) == expected, "\(order)")
        }
    }

    @Test("The negation holds exactly where the predicate does not; AND and OR mean what they say", arguments: seeds)
    func combines(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<1000 {
            let left = try random.predicate()
            let right = try random.predicate()
            let negated = try left.negated()
            let both = try left.and(right)
            let either = try left.or(right)
            for _ in 0..<6 {
                let record = random.record()
                let (isLeft, isRight) = (left.matches(record), right.matches(record))
                guard negated.matches(record) != isLeft, both.matches(record) == (isLeft && isRight),
                    either.matches(record) == (isLeft || isRight)
                else {
                    Issue.record("seed \(seed), round \(round): \(left) with \(right), record \(record)")
                    return
                }
            }
        }
    }

    @Test("Of the ways to write a condition, one is left")
    func hasOneForm() throws {
        func normal(_ terms: PredicateTerm...) throws -> Predicate { try Predicate(anyOf: [terms]) }
        let price = { (lower: Int64?, upper: Int64?) in
            PredicateTerm(
                "price",
                .isInRange(
                    ValueRange(
                        lower: lower.map { .init(.integer($0), isIncluded: true) },
                        upper: upper.map { .init(.integer($0), isIncluded: true) })))
        }
        #expect(try normal(price(1, nil), price(nil, 5)) == normal(price(1, 5)))
        #expect(try normal(price(3, 3)) == normal(PredicateTerm("price", .equals(.integer(3), .exact))))
        #expect(try normal(price(5, 1)) == .never)
        #expect(
            try normal(PredicateTerm("a", .isIn([.integer(3)], .caseInsensitive))).conjunctions
                == [[PredicateTerm("a", .equals(.integer(3), .exact))]])
        #expect(
            try normal(PredicateTerm("a", .equals(.string("BOB"), .caseInsensitive)))
                == normal(PredicateTerm("a", .equals(.string("bob"), .caseInsensitive))))
        #expect(try normal(PredicateTerm("a", .isIn([], .exact), isNegated: true)) == .always)
        let isOne = PredicateTerm("a", .equals(.integer(1), .exact))
        let isTwo = PredicateTerm("a", .equals(.integer(2), .exact))
        let isNotOne = PredicateTerm("a", .equals(.integer(1), .exact), isNegated: true)
        #expect(try normal(isOne, isTwo) == .never)
        #expect(try normal(isOne, isNotOne) == .never)
        #expect(try Predicate(anyOf: [[isOne], [isNotOne]]) == .always)
        #expect(try Predicate(anyOf: [[isOne, price(1, nil)], [isOne]]) == normal(isOne))
        #expect(try Predicate.never.negated() == .always)
        #expect(try Predicate.always.negated() == .never)
    }

    @Test("Bounds that leave one value, bounds and values of the same field have one form in every order")
    func cutsRangesInAnyOrder() throws {
        func term(_ test: FieldTest) -> PredicateTerm { PredicateTerm("price", test) }
        func atLeast(_ value: FieldValue) -> PredicateTerm {
            term(.isInRange(ValueRange(lower: .init(value, isIncluded: true), upper: nil)))
        }
        func atMost(_ value: FieldValue) -> PredicateTerm {
            term(.isInRange(ValueRange(lower: nil, upper: .init(value, isIncluded: true))))
        }
        let two = term(.equals(.integer(2), .exact))
        let cases: [([PredicateTerm], PredicateTerm?)] = [
            ([atLeast(.integer(2)), atMost(.integer(2)), atMost(.integer(9))], two),
            ([atLeast(.date(milliseconds: 2)), atMost(.boolean(true)), two], nil),
            ([atLeast(.date(milliseconds: 2)), atMost(.date(milliseconds: 2)), two], two),
            ([atLeast(.integer(1)), atMost(.double(2.5)), term(.isIn([.integer(0), .integer(2)], .exact))], two),
            (
                [atLeast(.string("a")), term(.isIn([.string("b"), .integer(2), .list([])], .exact))],
                term(.equals(.string("b"), .exact))
            ),
        ]
        for (terms, expected) in cases {
            let first = try Predicate(anyOf: expected.map { [[$0]] } ?? [])
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let shuffled = order.filter(terms.indices.contains).map { terms[$0] }
                #expect(try Predicate(anyOf: [shuffled]) == first, "\(shuffled)")
                #expect(try Predicate.all(of: shuffled.map { try Predicate($0) }) == first, "\(shuffled)")
            }
        }
    }

    @Test("Bringing text into the form without case once is enough, for every character of every alphabet")
    func foldingIsIdempotent() {
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
                scalar.properties.generalCategory != .privateUse, !scalar.properties.isIdeographic
            else { continue }
            for text in [String(scalar), "a" + String(scalar) + "\u{345}\u{301}"] {
                let canonical = TextForm.canonical.applied(to: text)
                let folded = TextForm.caseFolded.applied(to: canonical)
                let isStable =
                    folded.utf8.elementsEqual(TextForm.caseFolded.applied(to: folded).utf8)
                    && folded.utf8.elementsEqual(TextForm.canonical.applied(to: folded).utf8)
                if !isStable { Issue.record("U+\(String(value, radix: 16))") }
            }
        }
    }
}

extension PredicateTerm {
    /// The same term with its texts in NFC, as the definition expects them.
    fileprivate var composed: PredicateTerm { PredicateTerm(path, test.composed, isNegated: isNegated) }
}

extension FieldTest {
    fileprivate var composed: FieldTest {
        switch self {
        case .equals(let value, let folding): .equals(value.composed, folding)
        case .isIn(let values, let folding): .isIn(values.map(\.composed), folding)
        case .isInRange(let range):
            .isInRange(ValueRange(lower: range.lower.map(Self.composed), upper: range.upper.map(Self.composed)))
        case .beginsWith(let text): .beginsWith(TextForm.canonical.applied(to: text))
        case .containsText(let text): .containsText(TextForm.canonical.applied(to: text))
        case .listContains(let value, let folding): .listContains(value.composed, folding)
        case .listContainsAny(let values, let folding): .listContainsAny(values.map(\.composed), folding)
        case .listMemberBeginsWith, .containsAnyToken, .isWithin: self
        }
    }

    private static func composed(_ bound: ValueRange.Bound) -> ValueRange.Bound {
        ValueRange.Bound(bound.value.composed, isIncluded: bound.isIncluded)
    }
}

extension FieldValue {
    fileprivate var composed: FieldValue {
        switch self {
        case .string(let text): .of(text)
        case .reference(let recordName, let zoneName): .reference(to: recordName, zoneName: zoneName)
        case .list(let members): .list(members.map(\.composed))
        case .integer, .double, .boolean, .date, .bytes, .location: self
        }
    }
}
