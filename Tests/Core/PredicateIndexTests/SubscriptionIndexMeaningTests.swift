import PushTestKit
import Testing

@testable import PredicateIndex
@testable import Predicates

@Suite("Subscription index: what is equal, and what is one")
struct SubscriptionIndexMeaningTests {
    private static let scope = MatchScope(application: "chat", recordType: "Song")

    private static func isFound(_ test: FieldTest, _ value: FieldValue?) throws -> Bool {
        let index = SubscriptionIndex(hashSeed: 7)
        let predicate = try Predicate(anyOf: [[PredicateTerm("a", test)]])
        index.insert(1, scope: scope, operations: .all, predicate: predicate)
        var rows: [Int64] = []
        let fields = RecordFields(value.map { [("a", $0)] } ?? [])
        _ = index.match(
            MatchInput(application: "chat", recordType: "Song", operations: .updated, fields: fields), into: &rows)
        return rows == [1]
    }

    @Test(
        "Values are equal by what they mean",
        arguments: [
            (.integer(1), .boolean(true), true), (.boolean(false), .integer(0), true),
            (.date(milliseconds: 5), .integer(5), true), (.integer(1), .string("1"), false),
            (.integer(9_007_199_254_740_993), .double(0x1p53), false), (.double(0.5), .double(0.5), true),
            (.string("Straße"), .string("STRASSE"), true), (.string("Ä"), .string("a\u{308}"), true),
            (.reference(to: "x"), .string("x"), false), (.reference(to: "x"), .reference(to: "X"), false),
            (.reference(to: "x", zoneName: "z"), .reference(to: "x", zoneName: "z"), true),
            (.reference(to: "x", zoneName: "z"), .reference(to: "x"), false),
            (.reference(to: "xz", zoneName: "z"), .reference(to: "x", zoneName: "zz"), false),
            (.bytes([1]), .bytes([1]), true), (.list([.string("A")]), .list([.string("a")]), true),
            (.list([]), .list([]), true), (.list([.integer(1)]), .integer(1), false),
        ] as [(FieldValue, FieldValue, Bool)])
    func equality(wanted: FieldValue, value: FieldValue, isEqual: Bool) throws {
        let value = if case .string(let text) = value { FieldValue.of(text) } else { value }
        #expect(try Self.isFound(.equals(wanted, .caseInsensitive), value) == isEqual)
    }

    @Test("Case counts where it shall")
    func exactText() throws {
        #expect(try !Self.isFound(.equals(.string("bob"), .exact), .string("Bob")))
        #expect(try Self.isFound(.equals(.string("bob"), .exact), .string("bob")))
        #expect(try !Self.isFound(.equals(.string("bob"), .exact), nil))
    }

    @Test("A subscription matches the changes it asked for, in its app and of its type")
    func scopes() {
        let index = SubscriptionIndex(hashSeed: 7)
        let scopes = [
            MatchScope(application: "chat", recordType: "Song"), MatchScope(application: "chat", recordType: nil),
            MatchScope(application: nil, recordType: "Song"), MatchScope(application: nil, recordType: nil),
            MatchScope(application: "notes", recordType: "Song"),
        ]
        for (row, scope) in scopes.enumerated() {
            index.insert(Int64(row), scope: scope, operations: .created, predicate: .always)
        }
        index.insert(9, scope: scopes[0], operations: [.updated, .deleted], predicate: .always)
        func rows(_ application: String?, _ type: String?, _ operations: FiringOperations) -> [Int64] {
            var rows: [Int64] = []
            let change = MatchInput(
                application: application, recordType: type, operations: operations, fields: RecordFields())
            _ = index.match(change, into: &rows)
            return rows.sorted()
        }
        #expect(rows("chat", "Song", .created) == [0, 1, 2, 3])
        #expect(rows("chat", "Song", .deleted) == [9])
        #expect(rows(nil, "Song", .created) == [0, 1, 2, 3, 4])
        #expect(rows("other", "Album", .created) == [3])
        #expect(rows("chat", nil, .created) == [1, 3])
        #expect(rows("chat", "Song", .all) == [0, 1, 2, 3, 9])
    }

    @Test("A row that is added again is replaced, and an equal predicate is one entry")
    func replacement() throws {
        let index = SubscriptionIndex(hashSeed: 7)
        let first = try Predicate(anyOf: [[PredicateTerm("a", .equals(.integer(1), .exact))]])
        let same = try Predicate(anyOf: [[PredicateTerm("a", .equals(.boolean(true), .exact))]])
        let other = try Predicate(anyOf: [[PredicateTerm("a", .equals(.integer(2), .exact), isNegated: true)]])
        index.insert(1, scope: Self.scope, operations: .all, predicate: first)
        index.insert(2, scope: Self.scope, operations: .all, predicate: same)
        #expect(index.distinctPredicateCount == 1)
        index.insert(1, scope: Self.scope, operations: .all, predicate: other)
        #expect(index.distinctPredicateCount == 2)
        #expect(index.count == 2)
        index.insert(1, scope: Self.scope, operations: .all, predicate: .never)
        #expect(index.count == 2)
        var rows: [Int64] = []
        let change = MatchInput(
            application: "chat", recordType: "Song", operations: .created, fields: RecordFields([("a", .integer(1))]))
        #expect(index.match(change, into: &rows).isComplete)
        #expect(rows == [2])
    }

    @Test("In whatever order its subscribers leave, nothing of a predicate stays")
    func subscribersLeaveInAnyOrder() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for count in 1...60 as ClosedRange<Int64> {
            for _ in 0..<30 {
                let index = SubscriptionIndex(hashSeed: seed)
                for row in 0..<count { index.insert(row, scope: Self.scope, operations: .all, predicate: .always) }
                for row in (0..<count).shuffled(using: &generator) { index.remove(row) }
                #expect(index.distinctPredicateCount == 0, "seed \(seed), \(count) subscribers")
                #expect(index.isEmptyInside, "seed \(seed), \(count) subscribers")
            }
        }
    }
}
