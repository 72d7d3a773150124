import PushTestKit
import Testing

@testable import DispatchCore

@Suite("The acknowledgement frontier")
struct AcknowledgementFrontierTests {
    /// RabbitMQ's view of acknowledgements: it keeps a list of unacknowledged numbers, and closes the channel over a
    /// number that is not in it.
    private struct Broker {
        var unacknowledged: Set<UInt64> = []
        var acknowledged: Set<UInt64> = []

        mutating func take(_ acknowledgement: AcknowledgementFrontier.Acknowledgement) -> Bool {
            guard unacknowledged.contains(acknowledgement.number) else { return false }
            let ended =
                acknowledgement.isMultiple
                ? unacknowledged.filter { $0 <= acknowledgement.number } : [acknowledgement.number]
            unacknowledged.subtract(ended)
            acknowledged.formUnion(ended)
            return true
        }
    }

    @Test(
        "In any order of deliveries and endings, exactly what has ended is acknowledged or rejected, once and in time",
        arguments: 0..<50)
    func agreesWithOracle(_ run: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let batchSize = Int.random(in: 1...40, using: &generator)
        var frontier = AcknowledgementFrontier(
            batchSize: batchSize, batchDelayNanoseconds: 5, stragglerDelayNanoseconds: 50)
        var broker = Broker()
        var underWay: [UInt64] = []
        var settled: [UInt64: UInt64] = [:]
        var urgent: Set<UInt64> = []
        var lastDelivered: UInt64 = 0
        var now: UInt64 = 1_000
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        for _ in 0..<2_000 {
            now += UInt64.random(in: 0...3, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0 where underWay.count < 300:
                // The broker skips numbers that it delivers to a consumer that is gone; that is very rare.
                lastDelivered += Int.random(in: 0..<100, using: &generator) == 0 ? 2 : 1
                let isUrgent = Int.random(in: 0..<10, using: &generator) == 0
                frontier.received(lastDelivered, isUrgent: isUrgent)
                if isUrgent { urgent.insert(lastDelivered) }
                broker.unacknowledged.insert(lastDelivered)
                underWay.append(lastDelivered)
            case 1 where !underWay.isEmpty:
                let index = Int.random(in: 0..<min(underWay.count, 30), using: &generator)
                let number = underWay.remove(at: index)
                guard Int.random(in: 0..<8, using: &generator) > 0 else {
                    let isFirst = frontier.rejected(number, nowNanoseconds: now)
                    let isAgain = frontier.rejected(number, nowNanoseconds: now)
                    #expect(isFirst && !isAgain, "seed \(seed): \(number)")
                    broker.unacknowledged.remove(number)
                    break
                }
                frontier.settled(number, nowNanoseconds: now)
                frontier.settled(number, nowNanoseconds: now)
                settled[number] = now
            default:
                frontier.settled(lastDelivered + 7, nowNanoseconds: now)
            }
            frontier.takeDue(nowNanoseconds: now, into: &due)
            for acknowledgement in due {
                let isTaken = broker.take(acknowledgement)
                #expect(isTaken, "seed \(seed): \(acknowledgement) is not unacknowledged")
            }
            if !due.isEmpty { settled = settled.filter { broker.unacknowledged.contains($0.key) } }
            due = []
            let late = urgent.intersection(settled.keys)
            #expect(late.isEmpty, "seed \(seed): \(late) had to be acknowledged at once")
            #expect(broker.acknowledged.isDisjoint(with: underWay), "seed \(seed): acknowledged before it ended")
            #expect(frontier.unacknowledgedCount == broker.unacknowledged.count, "seed \(seed)")
            // At the worst, the frontier reaches a straggler just before its time and makes it wait for a batch; the
            // last of each comes up to 3 late.
            let overdue = settled.filter { $0.value + 50 + 3 + 5 + 3 <= now }
            #expect(overdue.isEmpty, "seed \(seed): \(overdue) waited too long")
            let next = frontier.nextDueNanoseconds
            #expect((next != nil) == !settled.isEmpty, "seed \(seed): a timer without reason, or none with one")
            guard overdue.isEmpty else { return }
        }
        frontier.takeDue(nowNanoseconds: now, isFinal: true, into: &due)
        for acknowledgement in due {
            let isTaken = broker.take(acknowledgement)
            #expect(isTaken, "seed \(seed)")
        }
        #expect(broker.unacknowledged == Set(underWay), "seed \(seed)")
    }

    @Test("Endings at the frontier go out as one acknowledgement once a batch is full")
    func batches() {
        var frontier = AcknowledgementFrontier(batchSize: 16)
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        for number in UInt64(1)...32 { frontier.received(number) }
        for number in UInt64(1)...15 { frontier.settled(number, nowNanoseconds: 10) }
        frontier.takeDue(nowNanoseconds: 10, into: &due)
        #expect(due.isEmpty)
        frontier.settled(16, nowNanoseconds: 11)
        frontier.takeDue(nowNanoseconds: 11, into: &due)
        #expect(due == [.init(number: 16, isMultiple: true)])
        #expect(frontier.unacknowledgedCount == 16)
    }

    @Test("An acknowledgement of many never names a delivery that was acknowledged alone")
    func namesWhatIsUnacknowledged() {
        var frontier = AcknowledgementFrontier(
            batchSize: 1_000, batchDelayNanoseconds: 5, stragglerDelayNanoseconds: 50)
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        for number in UInt64(1)...3 { frontier.received(number) }
        frontier.settled(3, nowNanoseconds: 0)
        frontier.takeDue(nowNanoseconds: 50, into: &due)
        #expect(due == [.init(number: 3, isMultiple: false)])
        due = []
        frontier.settled(2, nowNanoseconds: 60)
        frontier.settled(1, nowNanoseconds: 60)
        frontier.takeDue(nowNanoseconds: 65, into: &due)
        #expect(due == [.init(number: 2, isMultiple: true)])
    }
}
