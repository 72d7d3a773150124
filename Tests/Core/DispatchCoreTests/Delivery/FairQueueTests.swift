import DispatchCore
import PushTestKit
import Testing

@Suite("Turns between flows")
struct FairQueueTests {
    /// Deficit round robin, as the paper tells it and as slow as can be.
    private struct NaiveQueue {
        var ring: [(flow: Int, allowance: Int)] = []
        var elements: [Int: [Int]] = [:]
        let quantum: Int

        mutating func append(_ element: Int, flow: Int) {
            if elements[flow, default: []].isEmpty { ring.append((flow, quantum)) }
            elements[flow, default: []].append(element)
        }

        var head: (flow: Int, element: Int, allowance: Int)? {
            ring.first.map { ($0.flow, elements[$0.flow]?.first ?? -1, $0.allowance) }
        }

        mutating func served(units: Int, isFinished: Bool) {
            let flow = ring[0].flow
            ring[0].allowance -= units
            if isFinished { elements[flow]?.removeFirst() }
            if elements[flow]?.isEmpty == true {
                ring.removeFirst()
            } else if ring[0].allowance <= 0 {
                pass()
            }
        }

        mutating func pass() {
            let flow = ring.removeFirst().flow
            ring.append((flow, quantum))
        }
    }

    @Test("At random it does what deficit round robin does", arguments: 0..<20 as Range<UInt64>)
    func asTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let quantum = Int.random(in: 1...8, using: &random)
        var queue = FairQueue<Int>(flowCount: 5, quantum: quantum)
        var naive = NaiveQueue(quantum: quantum)
        for step in 0..<5_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let flow = Int.random(in: 0..<5, using: &random)
                queue.append(step, flow: flow)
                naive.append(step, flow: flow)
            case 4 where !queue.isEmpty:
                queue.pass()
                naive.pass()
            default:
                guard let head = queue.head else { break }
                let units = Int.random(in: 0...head.allowance, using: &random)
                let isFinished = Bool.random(using: &random)
                queue.served(units: units, isFinished: isFinished)
                naive.served(units: units, isFinished: isFinished)
            }
            let (head, expected) = (queue.head, naive.head)
            let isSame =
                head?.flow == expected?.flow && head?.element == expected?.element
                && head?.allowance == expected?.allowance && queue.activeFlowCount == naive.ring.count
                && queue.isEmpty == naive.ring.isEmpty
            if !isSame {
                Issue.record("step \(step), seed \(seed): flow \(head?.flow ?? -1), not \(expected?.flow ?? -1)")
                return
            }
        }
    }

    @Test("Flows that always have something to do get the same, but for one turn", arguments: 0..<10 as Range<UInt64>)
    func fair(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let quantum = 16
        var queue = FairQueue<Int>(flowCount: 4, quantum: quantum)
        var served = [0, 0, 0, 0]
        // One flow has elements of one unit, another of a thousand: what counts is units.
        let sizes = [1, 10, 100, 1_000]
        var left: [Int] = sizes
        for flow in 0..<4 { queue.append(flow, flow: flow) }
        for _ in 0..<20_000 {
            guard let head = queue.head else { break }
            let units = min(head.allowance, left[head.flow], Int.random(in: 1...quantum, using: &random))
            served[head.flow] += units
            left[head.flow] -= units
            let isFinished = left[head.flow] == 0
            if isFinished {
                left[head.flow] = sizes[head.flow]
                queue.append(head.flow, flow: head.flow)
            }
            queue.served(units: units, isFinished: isFinished)
            let spread = (served.max() ?? 0) - (served.min() ?? 0)
            if spread > quantum {
                Issue.record("\(served), seed \(seed)")
                return
            }
        }
    }

    @Test("A flow that was empty for long has saved nothing up")
    func nothingSaved() {
        var queue = FairQueue<Int>(flowCount: 2, quantum: 4)
        queue.append(1, flow: 0)
        for _ in 0..<10 { queue.served(units: 4, isFinished: false) }
        queue.append(2, flow: 1)
        queue.pass()
        #expect(queue.head?.flow == 1 && queue.head?.allowance == 4)
    }
}
