import Notifications
import PushTestKit
import Testing

@testable import APNsSimulator

@Suite("Records")
struct RecordTests {
    @Test("The set of identifiers agrees with the standard library's")
    func identifierSetAgreesWithOracle() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var oracle: Set<APNsIdentifier> = []
        var set = IdentifierSet()
        for _ in 0..<20_000 {
            let identifier = APNsIdentifier(
                high: .random(in: 0..<100, using: &generator), low: .random(in: 0..<100, using: &generator))
            #expect(set.insert(identifier) == oracle.insert(identifier).inserted, "seed \(seed)")
            #expect(set.count == oracle.count)
        }
        #expect(!set.hasOverflowed)
    }

    @Test("Summaries of several loops add up")
    func summariesAddUp() {
        var first = SimulatorSummary()
        first.answered = 2
        first.concurrentStreamsMaximum = 7
        first.answers = [
            .init(status: 200, reason: nil, count: 1), .init(status: 410, reason: "Unregistered", count: 1),
        ]
        var second = SimulatorSummary()
        second.answered = 3
        second.concurrentStreamsMaximum = 5
        second.answers = [.init(status: 200, reason: nil, count: 3)]
        first.add(second)
        #expect(first.answered == 5)
        #expect(first.concurrentStreamsMaximum == 7)
        #expect(
            first.answers == [
                .init(status: 200, reason: nil, count: 4), .init(status: 410, reason: "Unregistered", count: 1),
            ])
    }
}
