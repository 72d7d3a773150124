import ChangeEvents
import PushTestKit
import RegistryCore
import Testing

@Suite("The index of remembered events")
struct EventMemoryIndexTests {
    private static func block(_ number: Int64, at milliseconds: Int64, keys: [Int64]) -> EventMemoryBlock {
        let events = keys.map { RememberedEvent(identity: EventIdentity(key: $0, rest: 0), content: 0) }
        return EventMemoryBlock(
            number: number, endedAtMilliseconds: milliseconds, bytes: EventMemoryBlock.parts(of: events)[0])
    }

    @Test("It finds what a list of all blocks finds, and rarely more", arguments: [1, 2, 3] as [UInt64])
    func oracle(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var index = EventMemoryIndex(generationMilliseconds: 1_000)
        var oracle: [EventMemoryBlock] = []
        var (now, number, falseCount, lookUpCount) = (Int64(0), Int64(0), 0, 0)
        for _ in 0..<400 {
            now += Int64.random(in: 0...100, using: &random)
            number += Int64.random(in: 1...3, using: &random)
            let keys = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                // Few enough keys that many come again.
                Int64.random(in: 0..<20_000, using: &random) &* 0x5851_F42D_4C95_7F2D
            }
            let block = Self.block(number, at: now, keys: keys)
            index.add(block)
            // Another reader has read the same.
            index.add(block)
            oracle.append(block)
            let (oldest, maximum) = (now - 4_000, 5_000)
            index.drop(endedBeforeMilliseconds: oldest, eventsMaximum: maximum)
            while oracle.count > 1,
                oracle[0].endedAtMilliseconds < oldest
                    || oracle.dropFirst().reduce(0, { $0 + $1.count }) >= maximum
            {
                oracle.removeFirst()
            }
            #expect(index.count == oracle.reduce(0) { $0 + $1.count })
            for key in (0..<20).map({ _ in Int64.random(in: 0..<20_000, using: &random) &* 0x5851_F42D_4C95_7F2D }) {
                lookUpCount += 1
                let found = Set(index.blocks(mayHave: key))
                let expected = Set(
                    oracle.filter { block in block.events.contains { $0.identity.key == key } }.map(\.number))
                #expect(found.isSuperset(of: expected), "seed \(seed), key \(key)")
                if found != expected { falseCount += 1 }
            }
        }
        #expect(index.lastNumber == number)
        #expect(falseCount < lookUpCount / 1_000)
    }

    @Test("Its memory follows the number of events, and goes with them")
    func memory() {
        var index = EventMemoryIndex(generationMilliseconds: 10_000)
        func add(_ count: Int64, from first: Int64) {
            for start in stride(from: first, to: first + count, by: 200) {
                let keys = (start..<start + 200).map { $0 &* 0x5851_F42D_4C95_7F2D }
                index.add(Self.block(start + 1, at: start, keys: keys))
                index.drop(endedBeforeMilliseconds: start - 40_000, eventsMaximum: .max)
            }
        }
        add(400_000, from: 0)
        #expect(index.count == 40_200)
        let bytesPerEvent = index.memoryBytes / index.count
        #expect((10...30).contains(bytesPerEvent), "\(bytesPerEvent) bytes an event")
        index.drop(endedBeforeMilliseconds: .max, eventsMaximum: .max)
        #expect(index.count == 200 && index.memoryBytes < 400_000)
    }

    @Test("Blocks with numbers that nobody would write are no harm")
    func extremes() {
        var index = EventMemoryIndex(generationMilliseconds: 1_000)
        index.add(EventMemoryBlock(number: 1, endedAtMilliseconds: .min, bytes: []))
        index.add(Self.block(2, at: .max, keys: [7]))
        index.add(EventMemoryBlock(number: 3, endedAtMilliseconds: .min, bytes: Array(repeating: 1, count: 19)))
        index.add(Self.block(.max, at: .min, keys: [.min, .max]))
        index.add(Self.block(4, at: 0, keys: [8]))
        #expect(index.blocks(mayHave: 7) == [2] && index.blocks(mayHave: .max) == [.max] && index.lastNumber == .max)
        #expect(index.blocks(mayHave: 8) == [])
    }
}
