import PushTestKit
import Testing

@testable import PushServiceSimulator

@Suite("Identities of accepted pushes")
struct AcceptedIdentifiersTests {
    @Test("The set of identifiers agrees with the standard library's")
    func identifierSetAgreesWithOracle() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var oracle: Set<UInt128> = []
        var set = IdentifierSet()
        for _ in 0..<20_000 {
            let identifier =
                UInt128.random(in: 0..<100, using: &generator) << 64 | .random(in: 0..<100, using: &generator)
            #expect(set.insert(identifier) == oracle.insert(identifier).inserted, "seed \(seed)")
            #expect(set.count == oracle.count)
        }
        #expect(!set.hasOverflowed)
    }

    @Test("Several loops count together, and the first of two is no repetition")
    func countsTogether() {
        let identifiers = AcceptedIdentifiers()
        #expect(identifiers.insert(1) && identifiers.insert(0) && !identifiers.insert(1) && !identifiers.insert(0))
        #expect(identifiers.count == (2, true))
    }
}
