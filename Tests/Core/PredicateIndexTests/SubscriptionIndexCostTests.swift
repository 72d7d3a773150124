import Testing

@testable import PredicateIndex
@testable import Predicates

@Suite("Subscription index: costs, counted")
struct SubscriptionIndexCostTests {
    private static let scope = MatchScope(application: "chat", recordType: "Song")
    private static let change = MatchInput(
        application: "chat", recordType: "Song", operations: .updated,
        fields: RecordFields([("text", .string("some text")), ("a", .integer(3))]))

    private static func residual(_ number: Int) throws -> Predicate {
        try Predicate(anyOf: [[PredicateTerm("text", .containsText("part \(number)"))]])
    }

    private static func equals(_ field: String, _ value: Int64) throws -> Predicate {
        try Predicate(anyOf: [[PredicateTerm(field, .equals(.integer(value), .exact))]])
    }

    @Test("Removing touches as few slots among many thousands as among few, even under one key")
    func removalIsConstant() throws {
        for (count, distinct) in [(100, true), (20_000, true), (20_000, false)] {
            let index = SubscriptionIndex(hashSeed: 3)
            for row in 0..<count {
                let predicate = try Self.residual(distinct ? row : 0)
                index.insert(Int64(row), scope: Self.scope, operations: .all, predicate: predicate)
            }
            let before = index.touchedSlots
            let removed = 0..<count / 10
            for row in removed { index.remove(Int64(row * 7 % count)) }
            let each = Double(index.touchedSlots - before) / Double(removed.count)
            #expect(each < 60, "\(each) slots for each of \(count), distinct: \(distinct)")
        }
    }

    @Test("No addition moves more than a segment of each table")
    func additionIsBounded() throws {
        let index = SubscriptionIndex(hashSeed: 3)
        var most = 0
        for row in 0..<20_000 {
            let predicate = try Predicate(anyOf: [[PredicateTerm("a", .equals(.integer(Int64(row)), .exact))]])
            let before = index.touchedSlots
            index.insert(Int64(row), scope: Self.scope, operations: .all, predicate: predicate)
            most = max(most, index.touchedSlots - before)
        }
        // A table puts each of 16,384 slots into a line of eight, of which it looks at one after the other.
        #expect(most < 150_000)
        #expect(most > 1000, "the tables must have grown, or this shows nothing")
    }

    @Test("A hundred thousand subscribers of one predicate are one entry, and all are found")
    func manySubscribers() throws {
        let index = SubscriptionIndex(hashSeed: 3)
        let count = 100_000
        for row in 0..<count { index.insert(Int64(row), scope: Self.scope, operations: .all, predicate: .always) }
        #expect(index.distinctPredicateCount == 1)
        #expect(index.memoryBytes < 32 * count)
        for row in stride(from: 0, to: count, by: 2) { index.remove(Int64(row)) }
        var rows: [Int64] = []
        let outcome = index.match(Self.change, into: &rows)
        #expect(outcome.isComplete)
        #expect(outcome.steps < 10)
        #expect(rows.sorted() == (0..<count / 2).map { Int64(2 * $0 + 1) })
    }

    @Test("A search that would take too long finds nothing and says so; with more steps it finds all")
    func stepsAreBounded() throws {
        let index = SubscriptionIndex(hashSeed: 3)
        index.insert(-1, scope: Self.scope, operations: .all, predicate: .always)
        for row in 0..<2_000 {
            index.insert(Int64(row), scope: Self.scope, operations: .all, predicate: try Self.residual(row))
        }
        var rows: [Int64] = [42]
        let short = index.match(Self.change, into: &rows, stepsMaximum: 500)
        #expect(!short.isComplete)
        #expect(short.steps < 1_000)
        #expect(rows == [42])
        let long = index.match(Self.change, into: &rows)
        #expect(long.isComplete)
        #expect(long.steps > 2_000)
        #expect(rows == [42, -1])
    }

    @Test("Among many changes one that takes too long, or has thousands of keys, takes nothing from the others")
    func manyChangesAreApart() throws {
        let index = SubscriptionIndex(hashSeed: 3)
        index.insert(-1, scope: Self.scope, operations: .all, predicate: try Self.equals("a", 3))
        for row in 0..<5_000 {
            let member = PredicateTerm("tags", .listContains(.integer(Int64(row)), .exact))
            index.insert(
                Int64(row), scope: Self.scope, operations: .all, predicate: try Predicate(anyOf: [[member]]))
            index.insert(
                Int64(10_000 + row), scope: Self.scope, operations: .deleted, predicate: try Self.residual(row))
        }
        let ordinary = Self.change
        var large = Self.change
        large.fields["tags"] = .list((0..<4_000).map { .integer($0) })
        var endless = Self.change
        endless.operations = .deleted
        let changes = [
            ordinary, large, endless, ordinary, large, ordinary, ordinary, ordinary, large, endless, ordinary,
        ]
        var found: [(rows: [Int64], isComplete: Bool)] = []
        index.match(changes, stepsMaximum: 20_000) { changeIndex, rows, outcome in
            #expect(changeIndex == found.count)
            found.append((rows.sorted(), outcome.isComplete))
        }
        try #require(found.count == changes.count)
        for (change, found) in zip(changes, found) {
            if change == large { #expect(found.rows == [-1] + Array(0..<4_000)) }
            if change == ordinary { #expect(found.rows == [-1]) }
            if change == endless { #expect(found.rows == [-1] && found.isComplete) }
        }
        index.match([ordinary, endless, large, ordinary], stepsMaximum: 7_000) { changeIndex, rows, outcome in
            #expect(rows == (changeIndex % 3 == 0 ? [-1] : []))
            #expect(outcome.isComplete == (changeIndex % 3 == 0))
        }
    }

    @Test("Predicates that share a common equality are found by what else they ask for")
    func sharedEqualityIsRefined() throws {
        let index = SubscriptionIndex(hashSeed: 3)
        for row in 0..<5_000 {
            let range = ValueRange(
                lower: .init(.integer(Int64(10 * row)), isIncluded: true),
                upper: .init(.integer(Int64(10 * row + 9)), isIncluded: true))
            let predicate = try Predicate(anyOf: [
                [PredicateTerm("a", .equals(.integer(3), .exact)), PredicateTerm("b", .isInRange(range))]
            ])
            index.insert(Int64(row), scope: Self.scope, operations: .all, predicate: predicate)
        }
        var change = Self.change
        change.fields["b"] = .integer(12_345)
        var rows: [Int64] = []
        let outcome = index.match(change, into: &rows)
        #expect(rows == [1_234])
        #expect(outcome.steps < 150)
    }
}
