import PushTestKit
import Testing

@testable import PredicateIndex

@Suite("Storage of the subscription index")
struct MatchingStorageTests {
    private static let seeds = (0..<3).map { _ in UInt64.random(in: 0...UInt64.max) }

    @Test("A table has what was added and not removed, also under equal and neighbouring hashes", arguments: seeds)
    func probeTable(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = ProbeTable(IndexMemory(bytesBeforeSlabs: 0), load: 218, hasFilter: true)
        var expected: [UInt32: UInt32] = [:]
        for _ in 0..<30_000 {
            let number = UInt32.random(in: 1...8_000, using: &random)
            // Some numbers share a hash, and some hashes differ in their last bits only.
            let hash = number % 10 == 0 ? number / 40 : number &* 0x9E37_79B9
            if expected[number] == nil {
                table.add(hash, number)
                expected[number] = hash
            } else if Int.random(in: 0...2, using: &random) > 0 {
                table.remove(hash, number)
                expected[number] = nil
            }
        }
        #expect(table.count == expected.count)
        let hashes = Set(expected.values)
        for number in UInt32(1)...8_000 {
            let hash = number % 10 == 0 ? number / 40 : number &* 0x9E37_79B9
            let found = table.first(hash) { $0 == number }
            guard found == (expected[number] == nil ? 0 : number) else {
                Issue.record("seed \(seed): \(number) under \(hash) gives \(found)")
                return
            }
            #expect(expected[number] == nil || table.mayHave(hash), "seed \(seed)")
            #expect((table.first(hash) != 0) == hashes.contains(hash), "seed \(seed): \(hash)")
        }
        for (number, hash) in expected { table.remove(hash, number) }
        #expect(table.count == 0)
        #expect(table.memoryBytes < 64 * 1_024)
    }

    @Test("Blocks of all sizes keep their words while others come and go", arguments: seeds)
    func blockStore(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var store = BlockStore(IndexMemory(bytesBeforeSlabs: 0))
        var blocks: [(address: UInt32, words: [UInt32])] = []
        for _ in 0..<150 {
            if blocks.count > 30 || (!blocks.isEmpty && Bool.random(using: &random)) {
                let block = blocks.remove(at: Int.random(in: 0..<blocks.count, using: &random))
                let words = block.words.indices.map { store.pointer(block.address)[$0] }
                guard words == block.words else {
                    Issue.record("seed \(seed): a block of \(words.count) words was changed")
                    return
                }
                store.release(block.address, wordCount: words.count)
            } else {
                let counts = [1, 3, 8, 16, 20, 24, 70, 900, 5_000, 17_000, 34_000]
                let count = counts[Int.random(in: 0..<counts.count, using: &random)]
                let words = (0..<count).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
                let address = store.allocate(wordCount: count)
                let size = BlockStore.size(for: count)
                let alignmentBytes = min(4 * (size & -size), IndexMemory.lineBytes)
                let start = Int(bitPattern: store.pointer(address))
                #expect(start.isMultiple(of: alignmentBytes), "seed \(seed): \(count) words")
                for (index, word) in words.enumerated() { store.pointer(address)[index] = word }
                blocks.append((address, words))
            }
        }
        #expect(store.count == blocks.count)
        #expect(!blocks.contains { $0.address == 0 })
    }

    @Test("What matching reads of a posting, or of a short node, lies on one line of memory")
    func lines() {
        #expect(MemoryLayout<Posting>.size == IndexMemory.lineBytes / 2)
        #expect(BucketNode.wordCount(capacity: 2) == 8)
        #expect(BucketNode.wordCount(capacity: 4) == 16)
        for (capacity, lineCount) in [(2, 1), (4, 1), (7, 2), (10, 2), (15, 3), (84, 8)] {
            let reference = BucketNode.reference(1_048_568, capacity: capacity)
            #expect(reference & BucketNode.mark != 0)
            #expect(BucketNode.address(reference) == 1_048_568)
            #expect(BucketNode.lineCount(reference) == lineCount)
        }
    }

    @Test("A part is found in a text exactly where it is", arguments: seeds)
    func textSearch(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            let part = (0..<Int.random(in: 1...4, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            let expected = text.indices.contains { text[$0...].starts(with: part) }
            let found = text.withUnsafeBytes { text in part.withUnsafeBytes { TextSearch.occurs($0, in: text) } }
            #expect(found == expected, "seed \(seed): \(part) in \(text)")
        }
    }
}
