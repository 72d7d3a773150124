import Foundation
import Geography
import PushTestKit
import Testing

@testable import PredicateIndex
@testable import Predicates

@Suite("Subscription index: the same as a scan")
struct SubscriptionIndexTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }
    private static let songs = MatchScope(application: "chat", recordType: "Song")
    /// How many times as much is done as usual.
    private static let effort = ProcessInfo.processInfo.environment["APUS_MATCHING_EFFORT"].flatMap { Int($0) } ?? 1

    @Test("Random predicates and records of all kinds, while subscriptions come and go", arguments: seeds)
    func agreesWithScan(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for _ in 0..<210 * Self.effort {
            for _ in 0..<world.number(0...40) {
                world.insert(Int64(world.number(0...500)), try world.random.predicate())
            }
            for _ in 0..<world.number(0...15) {
                let agrees = world.remove(Int64(world.number(0...500)))
                #expect(agrees, "seed \(seed)")
            }
            #expect(world.index.count == world.subscriptions.count, "seed \(seed)")
            guard agrees(&world, changes: 6) else { return }
        }
        #expect(world.pairCount > 330_000, "seed \(seed)")
        finish(&world, matchesMinimum: 1000)
    }

    @Test("Hundreds of shapes, of which most are found by a part of their fields", arguments: seeds)
    func agreesWithManyShapes(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        let fields = (0..<12).map { "field\($0)" }
        var shapes: Set<[String]> = []
        for row in 0..<1000 * Int64(Self.effort) {
            let names = fields.filter { _ in world.number(0...2) == 0 }
            shapes.insert(names)
            let terms = names.map { PredicateTerm($0, Self.test(&world)) }
            world.insert(row % 4000, try Predicate(anyOf: [terms]), scope: Self.songs, operations: .all)
        }
        #expect(shapes.count > 300, "seed \(seed)")
        for _ in 0..<40 {
            let record = RecordFields(
                fields.filter { _ in world.number(0...9) > 0 }.map { ($0, .integer(Int64(world.number(0...3)))) })
            guard agrees(&world, on: newSong(record)) else { return }
        }
        finish(&world, matchesMinimum: 100)
    }

    @Test("Hundreds of predicates under one key, which come and go in waves", arguments: seeds)
    func agreesWithLongBuckets(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for wave in [200, 3, 90, 1, 40, 300, 0, 7] {
            while world.subscriptions.count < wave {
                let row = Int64(world.number(0...999))
                let predicate = try Predicate(anyOf: [[PredicateTerm("text", .containsText("part \(row)."))]])
                world.insert(row, predicate, scope: Self.songs, operations: .all)
                guard agreesAboutText(&world) else { return }
            }
            while world.subscriptions.count > wave {
                let row = world.subscriptions.keys.randomElement(using: &world.random.generator)
                let isAgreed = world.remove(row ?? -1)
                #expect(isAgreed, "seed \(seed)")
                guard agreesAboutText(&world) else { return }
            }
        }
        finish(&world, matchesMinimum: 100)
    }

    /// Matches now and then a text that some of the rows ask for.
    private func agreesAboutText(_ world: inout IndexWorld) -> Bool {
        guard world.number(0...19) == 0 else { return true }
        let parts = (0..<50).map { _ in "part \(world.number(0...999))." }
        return agrees(&world, on: newSong(RecordFields([("text", .string(parts.joined(separator: " ")))])))
    }

    @Test("More fields than a scope has members for, and members that make room for others", arguments: seeds)
    func agreesWithManyFields(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        let fields = (0..<2 * ScopeMember.countMaximum).map { "field\($0)" }
        for round in 0..<6 {
            for row in 0..<Int64(400) {
                // Each round asks for other fields, so that members come and go.
                let names = (0...world.number(0...1)).map { _ in 21 * round + world.number(0...79) }
                let terms = Set(names).map { PredicateTerm(fields[$0 % fields.count], Self.test(&world)) }
                world.insert(row, try Predicate(anyOf: [terms]), scope: Self.songs, operations: .all)
            }
            let record = RecordFields(fields.map { ($0, .integer(Int64(world.number(0...3)))) })
            guard agrees(&world, on: newSong(record)) else { return }
        }
        finish(&world, matchesMinimum: 100)
    }

    @Test("Numbers of all sizes within ranges, places within circles anywhere on the Earth", arguments: seeds)
    func agreesOnRangesAndCircles(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for row in 0..<600 * Int64(Self.effort) {
            let term =
                Bool.random(using: &world.random.generator)
                ? PredicateTerm("number", .isInRange(try #require(Self.range(&world))))
                : PredicateTerm("place", .isWithin(Self.place(&world), radiusMetres: Self.radius(&world)))
            world.insert(row, try Predicate(anyOf: [[term]]))
        }
        for _ in 0..<60 {
            let record = RecordFields([("number", Self.number(&world)), ("place", .location(Self.place(&world)))])
            let change = world.change(record)
            guard agrees(&world, on: change) else { return }
        }
        finish(&world, matchesMinimum: 100)
    }

    // MARK: - Parts of the above

    private func agrees(_ world: inout IndexWorld, changes: Int) -> Bool {
        for _ in 0..<changes {
            let change = world.change(world.random.record())
            guard agrees(&world, on: change) else { return false }
        }
        return true
    }

    /// Tells whether the index finds what the scan finds, and records it if not.
    private func agrees(_ world: inout IndexWorld, on change: MatchInput) -> Bool {
        guard let complaint = world.complaint(change) else { return true }
        Issue.record("\(complaint)")
        return false
    }

    private func newSong(_ fields: RecordFields) -> MatchInput {
        MatchInput(application: "chat", recordType: "Song", operations: .created, fields: fields)
    }

    /// Expects that records matched often, and removes what is left, after which nothing may be left.
    private func finish(_ world: inout IndexWorld, matchesMinimum: Int) {
        #expect(
            world.matchCount > matchesMinimum,
            "seed \(world.seed): the records must match often, or this shows nothing")
        for row in Array(world.subscriptions.keys) {
            let agrees = world.remove(row)
            #expect(agrees, "seed \(world.seed)")
        }
        #expect(world.index.count == 0)
        #expect(world.index.distinctPredicateCount == 0)
        #expect(world.index.isEmptyInside, "seed \(world.seed): something was left behind")
    }

    private static func test(_ world: inout IndexWorld) -> FieldTest {
        let value = FieldValue.integer(Int64(world.number(0...3)))
        switch world.number(0...9) {
        case 0: return .isIn([value, .integer(7)], .exact)
        case 1: return .isInRange(ValueRange(lower: .init(value, isIncluded: true), upper: nil))
        default: return .equals(value, .exact)
        }
    }

    /// A number of any size, often at a power of two.
    private static func number(_ world: inout IndexWorld) -> FieldValue {
        let power = Double(sign: .plus, exponent: world.number(-70...70), significand: 1)
        let number = (Double(world.number(-4...4)) + [0, 0.25, 1e-15][world.number(0...2)]) * power
        let wholes: [Int64] = [.min, .max, 0, 1, 9_007_199_254_740_992, 9_007_199_254_740_993]
        return world.number(0...2) == 0
            ? .integer(wholes[world.number(0...5)]) : FieldValue.of(number) ?? .integer(0)
    }

    private static func range(_ world: inout IndexWorld) -> ValueRange? {
        let first = number(&world)
        let second = number(&world)
        let isOrdered = first.order(against: second) != .after
        let lower = ValueRange.Bound(isOrdered ? first : second, isIncluded: world.number(0...1) == 0)
        let upper = ValueRange.Bound(isOrdered ? second : first, isIncluded: world.number(0...1) == 0)
        switch world.number(0...4) {
        case 0: return ValueRange(lower: lower, upper: nil)
        case 1: return ValueRange(lower: nil, upper: upper)
        default: return ValueRange(lower: lower, upper: upper)
        }
    }

    /// A place anywhere, often at a pole or at the date line.
    static func place(_ world: inout IndexWorld) -> Location {
        let latitude = [-90, 89.99, 90, 0, Double(world.number(-9000...9000)) / 100][world.number(0...4)]
        let longitude = [-180, 179.999, 180, 0, Double(world.number(-18000...18000)) / 100][world.number(0...4)]
        guard let place = Location(latitude: latitude, longitude: longitude) else {
            preconditionFailure("these are places")
        }
        return place
    }

    static func radius(_ world: inout IndexWorld) -> Double {
        [1, 300, 20_000, 700_000, 5_000_000, 30_000_000][world.number(0...5)]
    }
}
