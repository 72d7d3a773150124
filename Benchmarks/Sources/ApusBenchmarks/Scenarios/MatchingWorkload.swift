import Essentials
import Geography
import Glibc
import PredicateIndex
import Predicates

/// Predicates as client code makes them: few shapes, many constants.
struct MatchingWorkload {
    /// How constants are chosen.
    enum Spread: String, CaseIterable {
        /// All alike.
        case uniform
        /// The n-th most popular a n-th as often as the first (Zipf).
        case zipf
    }

    static let fieldCount = 10
    static let scope = MatchScope(application: "chat", recordType: "Song")
    /// How many values a field can have.
    private static let domain = 1 << 22

    let spread: Spread
    /// Sets of fields that are asked for by equality.
    private let shapes: [[Int]]
    /// How many of a hundred predicates ask for a range, a beginning or a circle instead.
    private let mixPercent: Int
    private var random: SplitMix
    private let names = (0..<MatchingWorkload.fieldCount).map { "field\($0)" }

    init(spread: Spread, shapeCount: Int, mixPercent: Int, seed: UInt64) {
        self.spread = spread
        self.mixPercent = mixPercent
        random = SplitMix(seed: seed)
        // All sets of one to four of the ten fields, small ones first, evenly drawn from.
        let sets = (1..<1 << Self.fieldCount).map { bits in (0..<Self.fieldCount).filter { bits >> $0 & 1 == 1 } }
        let small = sets.filter { $0.count <= (shapeCount > 300 ? 5 : 3) }.sorted { $0.count < $1.count }
        shapes = (0..<shapeCount).map { small[shapeCount == 1 ? 0 : $0 * small.count / shapeCount] }
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func value() -> Int {
        switch spread {
        case .uniform: return number(0..<Self.domain)
        case .zipf:
            // The inverse of the distribution function, near enough: the logarithm of the rank is uniform.
            let fraction = Double.random(in: 0..<1, using: &random)
            return Int(pow(Double(Self.domain), fraction)) - 1
        }
    }

    private mutating func place() -> Location? {
        Location(
            latitude: .random(in: 45..<55, using: &random), longitude: .random(in: 5..<15, using: &random))
    }

    private mutating func name() -> String {
        String(decoding: (0..<8).map { _ in UInt8(ascii: "a") + UInt8(number(0..<26)) }, as: UTF8.self)
    }

    /// A predicate; it may be one that came before.
    mutating func predicate() throws -> Predicate {
        if number(0..<100) < mixPercent, let term = mixedTerm() { return try Predicate(anyOf: [[term]]) }
        let fields = shapes[number(0..<shapes.count)]
        return try Predicate(anyOf: [
            fields.map { PredicateTerm(names[$0], .equals(.string("value-\(value())"), .exact)) }
        ])
    }

    private mutating func mixedTerm() -> PredicateTerm? {
        switch number(0..<3) {
        case 0:
            let lower = number(0..<1_000_000)
            let range = ValueRange(
                lower: .init(.integer(Int64(lower)), isIncluded: true),
                upper: .init(.integer(Int64(lower + number(1..<100))), isIncluded: true))
            return PredicateTerm("price", .isInRange(range))
        case 1: return PredicateTerm("title", .beginsWith(String(name().prefix(number(3..<7)))))
        default:
            return place().map {
                PredicateTerm("place", .isWithin($0, radiusMetres: .random(in: 500..<8_000, using: &random)))
            }
        }
    }

    /// A change of a record with all fields, with the values that a predicate asks for if one is given.
    mutating func change(satisfying predicate: Predicate?) -> MatchInput {
        var fields = RecordFields(names.map { ($0, .string("value-\(value())")) })
        fields["price"] = .integer(Int64(number(0..<1_000_000)))
        fields["title"] = .string(name())
        fields["place"] = place().map { .location($0) }
        for term in predicate?.conjunctions.first ?? [] {
            if case .equals(let value, _) = term.test { fields[term.path] = value }
        }
        return MatchInput(
            application: Self.scope.application, recordType: Self.scope.recordType, operations: .updated, fields: fields
        )
    }
}
