import PushTestKit
import Testing

@testable import ServiceClient

@Suite("Look-ups of strangers' names")
struct LookUpTurnsTests {
    @Test("A group whose names never resolve leaves the others their look-ups")
    func groups() {
        var turns = LookUpTurns()
        var begun = 0
        while turns.begins("hostile") { begun += 1 }
        #expect(begun == LookUpTurns.ofGroupMaximum)
        for number in 0..<20 { while turns.begins("hostile \(number)") {} }
        let honest = turns.begins("honest")
        #expect(honest)
    }

    @Test("As many run as are allowed, and each that ends makes room for one", arguments: [1, 2] as [UInt64])
    func bounds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var turns = LookUpTurns()
        var running: [String] = []
        for _ in 0..<20_000 {
            let group = "\(Int.random(in: 0..<8, using: &random))"
            if Int.random(in: 0..<3, using: &random) > 0 {
                let own = running.count { $0 == group }
                let isFree =
                    own < LookUpTurns.leastMaximum
                    || running.count < LookUpTurns.allMaximum && own < LookUpTurns.ofGroupMaximum
                let begins = turns.begins(group)
                #expect(begins == isFree)
                if begins { running.append(group) }
            } else if let index = running.firstIndex(of: group) {
                running.remove(at: index)
                turns.ended(group)
            }
        }
    }
}
