import PushCore
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

    @Test("A negation that would explode is refused at once")
    func explosion() throws {
        let conjunctions = (0..<64).map { row in (0..<16).map { equals("a\($0)", Int64(row)) } }
        let predicate = try Predicate(anyOf: conjunctions)
        #expect(throws: PredicateError.self) { try predicate.negated() }
        #expect(throws: PredicateError.self) { try predicate.and(predicate.or(Predicate(equals("b", 1)))) }
    }
}
