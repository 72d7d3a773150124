import PushServiceSimulator
import PushTestKit
import Testing

@Suite("Identities of accepted pushes")
struct AcceptedIdentifiersTests {
    @Test("The identities agree with the standard library's set")
    func agreesWithOracle() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var oracle: Set<UInt128> = []
        let identifiers = AcceptedIdentifiers()
        for _ in 0..<20_000 {
            let identifier =
                UInt128.random(in: 0..<100, using: &generator) << 64 | .random(in: 0..<100, using: &generator)
            #expect(identifiers.insert(identifier) == oracle.insert(identifier).inserted, "seed \(seed)")
            #expect(identifiers.count == (oracle.count, true))
        }
    }

    @Test("Several loops count together, and the first of two is no repetition")
    func countsTogether() {
        let identifiers = AcceptedIdentifiers()
        #expect(identifiers.insert(1) && identifiers.insert(0) && !identifiers.insert(1) && !identifiers.insert(0))
        #expect(identifiers.count == (2, true))
    }
}
