import PushTestKit
import Testing

@testable import RegistryAPI

@Suite("Turns between those who wait")
struct FairQueueTests {
    /// The same as a list of everything that waits, and a list of whose turn it is.
    private struct Oracle {
        let countMaximum: Int
        let shareMaximum: Int
        var waiting: [(owner: String, element: Int)] = []
        var turns: [String] = []

        private func share(_ owner: String) -> Int { waiting.filter { $0.owner == owner }.count }

        mutating func append(_ element: Int, of owner: String) -> String {
            if share(owner) == shareMaximum { return "share" }
            var answer = "waiting"
            if waiting.count == countMaximum {
                let most = turns.map { share($0) }.max() ?? 0
                guard most > share(owner) + 1, let greediest = turns.first(where: { share($0) == most }),
                    let last = waiting.lastIndex(where: { $0.owner == greediest })
                else { return "full" }
                answer = "displacing \(waiting.remove(at: last).element)"
            }
            if !turns.contains(owner) { turns.append(owner) }
            waiting.append((owner, element))
            return answer
        }

        mutating func popFirst() -> Int? {
            guard let owner = turns.first, let first = waiting.firstIndex(where: { $0.owner == owner }) else {
                return nil
            }
            let element = waiting.remove(at: first).element
            turns.removeFirst()
            if share(owner) > 0 { turns.append(owner) }
            return element
        }
    }

    private static func text(_ placement: FairQueue<Int>.Placement) -> String {
        switch placement {
        case .waiting: "waiting"
        case .displacing(let element): "displacing \(element)"
        case .refused(.share): "share"
        case .refused(.full): "full"
        }
    }

    @Test("Whatever comes and goes, it does what a plain list would", arguments: 0..<20)
    func likeThePlainList(_ round: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let countMaximum = Int.random(in: 1...12, using: &generator)
        let shareMaximum = Int.random(in: 1...8, using: &generator)
        var queue = FairQueue<Int>(countMaximum: countMaximum, shareMaximum: shareMaximum)
        var oracle = Oracle(countMaximum: countMaximum, shareMaximum: shareMaximum)
        for element in 0..<1_000 {
            if Int.random(in: 0..<5, using: &generator) < 2 {
                #expect(queue.popFirst() == oracle.popFirst(), "seed \(seed), element \(element)")
            } else {
                // Some owners send more often than others.
                let owner = "\(Int.random(in: 0...Int.random(in: 0...5, using: &generator), using: &generator))"
                let placement = Self.text(queue.append(element, of: owner))
                #expect(placement == oracle.append(element, of: owner), "seed \(seed), element \(element)")
            }
            #expect(queue.count == oracle.waiting.count, "seed \(seed), element \(element)")
        }
        while let element = oracle.popFirst() { #expect(queue.popFirst() == element, "seed \(seed)") }
        #expect(queue.popFirst() == nil && queue.count == 0, "seed \(seed)")
    }

    @Test("Who sends one request waits for one of each other, however many they have sent")
    func oneOfEach() {
        var queue = FairQueue<String>(countMaximum: 100, shareMaximum: 60)
        for number in 0..<50 { _ = queue.append("greedy \(number)", of: "greedy") }
        _ = queue.append("modest", of: "modest")
        #expect(queue.popFirst() == "greedy 0")
        #expect(queue.popFirst() == "modest")
        #expect(queue.popFirst() == "greedy 1")
    }

    @Test("When all slots are taken, an owner with fewer gets one from the owner with most")
    func slotOfTheGreediest() {
        var queue = FairQueue<String>(countMaximum: 4, shareMaximum: 4)
        for number in 0..<4 { _ = queue.append("greedy \(number)", of: "greedy") }
        guard case .displacing("greedy 3") = queue.append("a", of: "a"),
            case .displacing("greedy 2") = queue.append("b", of: "b"),
            case .refused(.full) = queue.append("a again", of: "a")
        else {
            Issue.record("the slots are given otherwise")
            return
        }
        #expect(queue.count == 4)
    }
}
