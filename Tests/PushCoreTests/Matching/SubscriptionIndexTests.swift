import Foundation
import PushTestKit
import Testing

@testable import PushCore

@Suite("Subscription index: the same as a scan")
struct SubscriptionIndexTests {
    private static let seeds = (0..<3).map { _ in UInt64.random(in: 0...UInt64.max) }
    /// How many times as much is done as usual.
    private static let effort = ProcessInfo.processInfo.environment["APUS_MATCHING_EFFORT"].flatMap { Int($0) } ?? 1

    @Test("Random predicates and records of all kinds, while subscriptions come and go", arguments: seeds)
    func agreesWithScan(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for _ in 0..<60 * Self.effort {
            for _ in 0..<world.number(0...40) {
                world.insert(Int64(world.number(0...500)), try world.random.predicate())
            }
            for _ in 0..<world.number(0...15) {
                let agrees = world.remove(Int64(world.number(0...500)))
                #expect(agrees, "seed \(seed)")
            }
            #expect(world.index.count == world.subscriptions.count, "seed \(seed)")
            for _ in 0..<6 {
                let change = world.change(world.random.record())
                if let complaint = world.complaint(change) {
                    Issue.record("\(complaint)")
                    return
                }
            }
        }
        #expect(world.matchCount > 1000, "seed \(seed): the records must match often, or this shows nothing")
        for row in Array(world.subscriptions.keys) {
            let agrees = world.remove(row)
            #expect(agrees)
        }
        #expect(world.index.count == 0)
        #expect(world.index.distinctPredicateCount == 0)
        #expect(world.index.isEmptyInside, "seed \(seed): something was left behind")
    }
}
