import AMQP
import PushTestKit
import Testing

@Suite("The ledger of publishes")
struct PublishLedgerTests {
    @Test(
        "Each publish has exactly one outcome, the one that the broker gave it, in whatever way it confirms",
        arguments: 0..<50)
    func agreesWithOracle(_ run: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        var ledger = ConfirmTracker()
        var open: [UInt64: Int] = [:]
        var expected: [Int: Bool] = [:]
        var returned: Set<UInt64> = []
        var outcomes: [ConfirmTracker.Outcome] = []
        var number: UInt64 = 0
        for step in 0..<3_000 {
            if open.count < 200, Bool.random(using: &generator) {
                number += 1
                ledger.published(number, index: step)
                open[number] = step
                continue
            }
            guard let chosen = open.keys.sorted().randomElement(using: &generator) else { continue }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                returned.insert(chosen)
                ledger.take(Self.returned(chosen), into: &outcomes)
                continue
            }
            let isMultiple = Int.random(in: 0..<5, using: &generator) == 0
            let isAccepted = Int.random(in: 0..<10, using: &generator) > 0
            ledger.take(
                .confirmed(number: chosen, isMultiple: isMultiple, isAccepted: isAccepted), into: &outcomes)
            for (ended, index) in open where ended == chosen || (isMultiple && ended < chosen) {
                expected[index] = isAccepted && !returned.contains(ended)
                open[ended] = nil
            }
            #expect(ledger.count == open.count, "seed \(seed)")
            #expect(ledger.openIndices == open.sorted { $0.key < $1.key }.map(\.value), "seed \(seed)")
            #expect(ledger.oldestIndex == open.min { $0.key < $1.key }?.value, "seed \(seed)")
        }
        let actual = Dictionary(outcomes.map { ($0.index, $0.failure == nil) }) { _, _ in
            Issue.record("seed \(seed): two outcomes for one publish")
            return false
        }
        #expect(actual == expected, "seed \(seed)")
    }

    @Test("Confirms of numbers that were never published, or were confirmed before, change nothing")
    func ignoresUnknown() {
        var ledger = ConfirmTracker()
        var outcomes: [ConfirmTracker.Outcome] = []
        ledger.published(1, index: 0)
        for number in [UInt64(0), 2, .max] {
            ledger.take(.confirmed(number: number, isMultiple: false, isAccepted: true), into: &outcomes)
            ledger.take(Self.returned(number), into: &outcomes)
        }
        #expect(outcomes.isEmpty)
        ledger.take(.confirmed(number: 1, isMultiple: false, isAccepted: true), into: &outcomes)
        ledger.take(.confirmed(number: 1, isMultiple: true, isAccepted: true), into: &outcomes)
        #expect(outcomes.map(\.index) == [0])
        #expect(ledger.isEmpty)
    }

    private static func returned(_ number: UInt64) -> AMQPEvent {
        .returned(AMQPReturn(code: 312, text: "NO_ROUTE", number: number))
    }
}
