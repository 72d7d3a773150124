import Predicates
import Testing

@Suite("Predicates: limits")
struct PredicateLimitTests {
    private func equals(_ path: String, _ number: Int64) -> PredicateTerm {
        PredicateTerm(path, .equals(.integer(number), .exact))
    }

    private func refusal(_ conjunctions: [[PredicateTerm]]) -> PredicateError.Code? {
        do {
            _ = try Predicate(anyOf: conjunctions)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("As many alternatives, conditions and values are taken as the limits say, and not one more")
    func counts() {
        let alternatives = PredicateLimits.conjunctionsMaximum
        #expect(refusal((0..<alternatives).map { [equals("a", Int64($0))] }) == nil)
        #expect(refusal((0...alternatives).map { [equals("a", Int64($0))] }) == .tooLarge)
        let terms = PredicateLimits.termsMaximum
        #expect(refusal([(0..<terms).map { equals("a\($0)", 1) }]) == nil)
        #expect(refusal([(0...terms).map { equals("a\($0)", 1) }]) == .tooLarge)
        #expect(refusal([(0...terms).map { _ in equals("a", 1) }]) == nil, "what repeats itself does not count")
        let members = (0...Int64(PredicateLimits.membersMaximum)).map(FieldValue.integer)
        #expect(refusal([[PredicateTerm("a", .isIn(Array(members.dropLast()), .exact))]]) == nil)
        #expect(refusal([[PredicateTerm("a", .isIn(members, .exact))]]) == .tooLarge)
    }

    @Test("Paths and texts are taken up to their limits; paths must be names with periods between them")
    func lengths() {
        let names = PredicateLimits.pathNamesMaximum
        #expect(refusal([[equals(Array(repeating: "a", count: names).joined(separator: "."), 1)]]) == nil)
        #expect(refusal([[equals(Array(repeating: "a", count: names + 1).joined(separator: "."), 1)]]) == .tooLarge)
        let bytes = PredicateLimits.pathBytesMaximum
        #expect(refusal([[equals(String(repeating: "a", count: bytes), 1)]]) == nil)
        #expect(refusal([[equals(String(repeating: "a", count: bytes + 1), 1)]]) == .tooLarge)
        for path in ["", ".", "a.", ".a", "a..b", "a\0b"] { #expect(refusal([[equals(path, 1)]]) == .invalidPath) }
        let text = String(repeating: "x", count: PredicateLimits.textBytesMaximum)
        #expect(refusal([[PredicateTerm("a", .beginsWith(text))]]) == nil)
        #expect(refusal([[PredicateTerm("a", .beginsWith(text + "x"))]]) == .tooLarge)
        #expect(refusal([[PredicateTerm("a", .equals(.double(.nan), .exact))]]) == .invalidValue)
    }

    @Test("A text cannot ask for more work than a fraction of a second, however it is written", arguments: 0..<3)
    func intricacy(kind: Int) {
        let sixteen = (0..<16).map { "a\($0) = 1" }
        let alternatives = "(" + (0..<32).map { "b = \($0)" }.joined(separator: " OR ") + ")"
        let text: String
        switch kind {
        // Each factor is small, and so is the product; only there are many of them.
        case 0: text = Array(repeating: alternatives, count: 1000).joined(separator: " AND ")
        case 1: text = Array(repeating: "(\(alternatives) AND \(alternatives))", count: 500).joined(separator: " OR ")
        default:
            let large = (0..<60).map { "(\((sixteen.dropLast() + ["c = \($0)"]).joined(separator: " AND ")))" }
            let nested = (0..<40).reduce("(\(large.joined(separator: " OR ")))") { text, _ in
                "(NOT NOT \(text) OR d = 1)"
            }
            text = Array(repeating: nested, count: 20).joined(separator: " OR ")
        }
        let error = #expect(throws: PredicateError.self) { try Predicate(parsing: text) }
        #expect(error?.code == .tooLarge)
    }

    @Test("The largest predicate is as large as the limit says")
    func largest() throws {
        let text = String(repeating: "x", count: 1017)
        let conjunctions = (10..<73).map { [PredicateTerm("a\($0)", .beginsWith(text))] }
        let size = try Predicate(anyOf: conjunctions).canonicalBytes.count
        let rest = PredicateLimits.canonicalBytesMaximum - size
        func filled(_ count: Int) throws -> Predicate {
            // The bytes of a conjunction, its path and its test besides the text.
            let fixed = 1 + 4 + 1 + 2 + 1
            return try Predicate(
                anyOf: conjunctions + [
                    [PredicateTerm("a99", .beginsWith(String(repeating: "y", count: count - fixed)))]
                ])
        }
        let predicate = try filled(rest)
        #expect(predicate.canonicalBytes.count == PredicateLimits.canonicalBytesMaximum)
        #expect(try Predicate(canonicalBytes: predicate.canonicalBytes) == predicate)
        #expect(throws: PredicateError.self) { try filled(rest + 1) }
    }

    @Test("A negation that would explode is refused at once")
    func explosion() throws {
        let conjunctions = (0..<64).map { row in (0..<16).map { equals("a\($0)", Int64(row)) } }
        let predicate = try Predicate(anyOf: conjunctions)
        #expect(throws: PredicateError.self) { try predicate.negated() }
        #expect(throws: PredicateError.self) { try predicate.and(predicate.or(Predicate(equals("b", 1)))) }
    }
}
