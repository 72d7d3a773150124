import PushTestKit
import Testing

@testable import ConnectionPool

@Suite("Stream table")
struct StreamTableTests {
    @Test("It agrees with a dictionary, whatever streams open and end in whatever order")
    func agreesWithADictionary() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var table = StreamTable()
        var oracle: [Int32: Int] = [:]
        var next: Int32 = 1
        for round in 0..<100_000 {
            // Mostly small, at times above a thousand, with stragglers that stay for long.
            let target = round % 20_000 < 5_000 ? 1_500 : 20
            if oracle.count < target, Int.random(in: 0..<3, using: &random) > 0 {
                table.insert(stream: next, push: round)
                oracle[next] = round
                next += 2 * Int32.random(in: 1...3, using: &random)
            } else {
                let stream = oracle.keys.min().map { Int.random(in: 0..<50, using: &random) == 0 ? $0 : next - 2 } ?? 1
                let victim = oracle[stream] == nil ? oracle.keys.randomElement(using: &random) ?? stream : stream
                #expect(table.remove(stream: victim) == oracle.removeValue(forKey: victim), "seed \(seed)")
            }
            let probe = Int32.random(in: -1...next + 2, using: &random)
            guard table.push(onStream: probe) == oracle[probe], table.count == oracle.count else {
                Issue.record("differs at \(probe), seed \(seed), round \(round)")
                return
            }
        }
        #expect(Set(table.entries.map(\.stream)) == Set(oracle.keys))
    }
}
