import PushTestKit
import Testing

@testable import PredicateIndex
@testable import Predicates

@Suite("Memory of the subscription index")
struct IndexMemoryTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }
    private static let slabBytes = 1 << 21

    /// A part, each word of which has a number of its own.
    private struct Part {
        var words: UnsafeMutablePointer<UInt64>
        var count: Int
        var number: UInt64

        func write() { for index in 0..<count { words[index] = number &* 0x9E37_79B9 &+ UInt64(index) } }

        func isWhole() -> Bool { (0..<count).allSatisfy { words[$0] == number &* 0x9E37_79B9 &+ UInt64($0) } }
    }

    @Test("Parts keep their words while others come and go, and slabs are given back", arguments: seeds)
    func parts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let memory = IndexMemory(bytesBeforeSlabs: 100_000)
        var parts: [Part] = []
        var isSlabUsed = false
        for number in UInt64(0)..<3_000 {
            // There are more and more parts, then fewer and fewer.
            let isAdded = Int.random(in: 0..<100, using: &random) < (number < 3_000 ? 60 : 40)
            if isAdded || parts.isEmpty {
                let count = Int.random(
                    in: 1...[8, 600, 5_000, 9_000][Int.random(in: 0..<4, using: &random)], using: &random)
                let part = Part(words: memory.allocate(UInt64.self, count: count), count: count, number: number)
                part.write()
                parts.append(part)
            } else {
                let part = parts.remove(at: Int.random(in: 0..<parts.count, using: &random))
                guard part.isWhole() else {
                    Issue.record("seed \(seed): part \(part.number) of \(part.count) words was changed")
                    return
                }
                memory.deallocate(part.words, count: part.count)
            }
            isSlabUsed = isSlabUsed || memory.unusedBytes > 0
        }
        #expect(isSlabUsed)
        for part in parts {
            #expect(part.isWhole(), "seed \(seed)")
            memory.deallocate(part.words, count: part.count)
        }
        #expect(memory.unusedBytes <= Self.slabBytes, "seed \(seed)")
    }

    @Test("What was given back is joined, so that a slab serves parts of another size")
    func joined() {
        let memory = IndexMemory(bytesBeforeSlabs: 0)
        let small = (0..<255).map { _ in memory.allocate(UInt64.self, count: 1_024) }
        #expect(memory.unusedBytes == Self.slabBytes - 255 * 8_192)
        for index in stride(from: 0, to: 255, by: 2) { memory.deallocate(small[index], count: 1_024) }
        for index in stride(from: 1, to: 255, by: 2) { memory.deallocate(small[index], count: 1_024) }
        let large = (0..<31).map { _ in memory.allocate(UInt64.self, count: 8_192) }
        #expect(memory.unusedBytes == Self.slabBytes - 31 * 65_536)
        for part in large { memory.deallocate(part, count: 8_192) }
    }

    @Test("An index of a few subscriptions takes no slab")
    func few() throws {
        let index = SubscriptionIndex(hashSeed: 1)
        for row in 1...Int64(100) {
            let predicate = try Predicate(anyOf: [[PredicateTerm("title", .equals(.integer(row), .exact))]])
            index.insert(
                row, scope: MatchScope(application: "a", recordType: "Song"), operations: .all, predicate: predicate)
        }
        #expect(index.memoryBytes < 512 * 1_024)
    }
}
