import PushTestKit

@testable import PredicateIndex
@testable import Predicates

/// An index beside the naive scan that says what it must find.
struct IndexWorld {
    struct Subscription {
        var scope: MatchScope
        var operations: FiringOperations
        var predicate: Predicate
    }

    let seed: UInt64
    var random: RandomPredicates
    let index: SubscriptionIndex
    private(set) var subscriptions: [Int64: Subscription] = [:]
    private(set) var pairCount = 0
    private(set) var matchCount = 0
    /// Changes to match together with others.
    private var earlier: [MatchInput] = []

    static let applications: [String?] = [nil, "chat", "notes"]
    static let recordTypes: [String?] = [nil, "Song", "Album"]

    init(seed: UInt64) {
        self.seed = seed
        random = RandomPredicates(seed: seed)
        index = SubscriptionIndex(hashSeed: seed)
    }

    /// A number in a range.
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random.generator) }

    /// Adds a subscription, or replaces the one of the same row.
    mutating func insert(_ row: Int64, _ predicate: Predicate, scope: MatchScope, operations: FiringOperations) {
        subscriptions[row] = Subscription(scope: scope, operations: operations, predicate: predicate)
        index.insert(row, scope: scope, operations: operations, predicate: predicate)
    }

    /// Adds a subscription to some scope for some changes.
    mutating func insert(_ row: Int64, _ predicate: Predicate) {
        let scope = MatchScope(
            application: Self.applications[number(0...2)], recordType: Self.recordTypes[number(0...2)])
        insert(row, predicate, scope: scope, operations: FiringOperations(rawValue: UInt8(number(0...7))))
    }

    /// Removes a row, which need not be there; tells whether both say the same of that.
    mutating func remove(_ row: Int64) -> Bool {
        let wasThere = subscriptions.removeValue(forKey: row) != nil
        return index.remove(row) == wasThere
    }

    /// A change of some record.
    mutating func change(_ fields: RecordFields) -> MatchInput {
        let operation = [FiringOperations.created, .updated, .deleted][number(0...2)]
        return MatchInput(
            application: Self.applications[number(0...2)], recordType: Self.recordTypes[number(0...2)],
            operations: operation, fields: fields)
    }

    /// Returns the difference between the results of the index and those of the scan; nil if there is none.
    mutating func complaint(_ change: MatchInput) -> String? {
        var found: [Int64] = []
        let outcome = index.match(change, into: &found, stepsMaximum: .max)
        let expected = subscriptions.filter { Self.isFound($0.value, by: change) }.map(\.key).sorted()
        pairCount += subscriptions.count
        matchCount += expected.count
        guard outcome.isComplete, found.sorted() == expected else {
            let missed = Set(expected).subtracting(found).compactMap { subscriptions[$0] }
            let wrong = Set(found).subtracting(expected).compactMap { subscriptions[$0] }
            return "seed \(seed): \(change) misses \(missed), has \(wrong) wrong, of \(found.count)"
        }
        return number(0...3) == 0 ? complaintTogether(change) : nil
    }

    /// Returns the difference between the results for several changes at once and those for each alone; nil if there is
    /// none.
    private mutating func complaintTogether(_ change: MatchInput) -> String? {
        if earlier.count == 20 { earlier.removeFirst() }
        earlier.append(change)
        let changes = Array(earlier.shuffled(using: &random.generator).prefix(number(1...20)))
        let stepsMaximum = number(0...1) == 0 ? .max : number(1...2_000)
        var together: [(changeIndex: Int, rows: [Int64], isComplete: Bool)] = []
        index.match(changes, stepsMaximum: stepsMaximum) { together.append(($0, $1.sorted(), $2.isComplete)) }
        guard together.map(\.changeIndex) == Array(changes.indices) else {
            return "seed \(seed): \(together) of \(changes)"
        }
        for (changeIndex, rows, isComplete) in together {
            var alone: [Int64] = []
            let outcome = index.match(changes[changeIndex], into: &alone, stepsMaximum: stepsMaximum)
            guard rows == alone.sorted(), isComplete == outcome.isComplete else {
                return "seed \(seed): \(changes[changeIndex]) among \(changes.count) has \(rows), alone \(alone)"
            }
        }
        return nil
    }

    private static func isFound(_ subscription: Subscription, by change: MatchInput) -> Bool {
        let scope = subscription.scope
        return (change.application == nil || scope.application == nil || scope.application == change.application)
            && (scope.recordType == nil || scope.recordType == change.recordType)
            && !subscription.operations.isDisjoint(with: change.operations)
            && subscription.predicate.matches(change.fields)
    }
}
