import PushTestKit
import Testing

@testable import EventLoop

@Suite("Timer heap")
struct TimerHeapTests {
    /// A list that is searched from end to end.
    private struct Oracle {
        var entries: [(due: UInt64, identifier: UInt64)] = []

        /// Returns the timers that may come next: any of those with the earliest due time.
        func candidates(at now: UInt64) -> Set<UInt64> {
            guard let earliest = entries.map(\.due).min(), earliest <= now else { return [] }
            return Set(entries.filter { $0.due == earliest }.map(\.identifier))
        }
    }

    @Test("Random insertions, cancellations and takings agree with a plain list")
    func agreesWithOracle() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var oracle = Oracle()
        var ran: [UInt64] = []
        var nextIdentifier: UInt64 = 1
        let record: (UInt64) -> Void = { ran.append($0) }
        for _ in 0..<5_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let due = UInt64.random(in: 0..<200, using: &generator)
                let identifier = nextIdentifier
                nextIdentifier += 1
                heap.insert(dueNanoseconds: due, identifier: identifier) { record(identifier) }
                oracle.entries.append((due, identifier))
            case 5..<8:
                // Also identifiers that ran, were cancelled, or never were.
                let identifier = UInt64.random(in: 0...nextIdentifier, using: &generator)
                heap.cancel(identifier)
                oracle.entries.removeAll { $0.identifier == identifier }
            default:
                let now = UInt64.random(in: 0..<200, using: &generator)
                let candidates = oracle.candidates(at: now)
                ran = []
                heap.popDue(atNanoseconds: now)?()
                #expect(ran.count == (candidates.isEmpty ? 0 : 1), "seed \(seed)")
                #expect(candidates.isSuperset(of: ran), "seed \(seed)")
                oracle.entries.removeAll { ran.contains($0.identifier) }
            }
            #expect(heap.nextDueNanoseconds == oracle.entries.map(\.due).min(), "seed \(seed)")
        }
    }

    @Test("Timers come in the order of their due times")
    func comesInOrder() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var ran: [UInt64] = []
        let record: (UInt64) -> Void = { ran.append($0) }
        for identifier in UInt64(1)...1_000 {
            let due = UInt64.random(in: 0 ... .max, using: &generator)
            heap.insert(dueNanoseconds: due, identifier: identifier) { record(due) }
        }
        while let handler = heap.popDue(atNanoseconds: .max) { handler() }
        #expect(ran.count == 1_000)
        #expect(ran == ran.sorted(), "seed \(seed)")
    }
}
