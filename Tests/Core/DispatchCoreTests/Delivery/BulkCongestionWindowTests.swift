import Testing

@testable import DispatchCore

@Suite("What is left over for large fan-outs")
struct BulkWindowTests {
    private static let millisecond: UInt64 = 1_000_000

    /// A way that takes `base` nanoseconds and serves so many pushes in a millisecond; what is more waits.
    private func settledSize(
        base: UInt64, perMillisecond: UInt64, rounds: Int = 1_000
    ) -> (size: Int, delay: UInt64) {
        var window = BulkCongestionWindow(maximum: 4_096)
        var now: Int64 = 0
        func delay() -> UInt64 { max(base, UInt64(window.size) * Self.millisecond / perMillisecond) }
        // The way is known from a time when it was idle.
        for _ in 0..<BulkCongestionWindow.answersPerRound {
            window.pushEnded(afterNanoseconds: base, isRestricted: false, at: Samples.monotonic(now))
        }
        for _ in 0..<rounds * BulkCongestionWindow.answersPerRound {
            window.pushEnded(afterNanoseconds: delay(), isRestricted: true, at: Samples.monotonic(now))
            now += 1
        }
        return (window.size, delay())
    }

    @Test("On a way that is quick but narrow the queue stays short", arguments: [100_000, 1_000_000] as [UInt64])
    func narrow(base: UInt64) {
        let (size, delay) = settledSize(base: base, perMillisecond: 100)
        #expect(delay <= base + 2 * BulkCongestionWindow.toleranceNanoseconds, "\(delay) ns with \(size) out")
        #expect(size >= 32)
    }

    @Test("On a way that is long but wide all of the window is used")
    func wide() {
        #expect(settledSize(base: 50 * Self.millisecond, perMillisecond: 1_000).size == 4_096)
    }

    @Test("However slow the answers are, as many are out as keep a fan-out going on a way of that length")
    func least() {
        #expect(settledSize(base: Self.millisecond / 10, perMillisecond: 1).size == BulkCongestionWindow.leastPushes)
        #expect(settledSize(base: 20 * Self.millisecond, perMillisecond: 1).size == 50, "2 500 a second")
        #expect(settledSize(base: 80 * Self.millisecond, perMillisecond: 1).size == 4_096 / 32, "never more than that")
    }

    /// Pushes over a way of some length that serves so many in a millisecond, in steps of a millisecond.
    ///
    /// - Returns: how long each took that was answered in the second half of the time, in milliseconds.
    private func delays(wayMilliseconds: Int64, perMillisecond: Int, forMilliseconds: Int64) -> [Int64] {
        var window = BulkCongestionWindow(maximum: 4_096)
        var pace = BulkPacer()
        var delays: [Int64] = []
        var queue: [Int64] = []
        var onTheWay: [(sent: Int64, due: Int64)] = []
        for now in 0..<forMilliseconds {
            let answered = onTheWay.prefix { $0.due <= now }
            onTheWay.removeFirst(answered.count)
            for push in answered {
                window.pushEnded(
                    afterNanoseconds: UInt64(now - push.sent) * Self.millisecond, isRestricted: true,
                    at: Samples.monotonic(now))
                if now > forMilliseconds / 2 { delays.append(now - push.sent) }
            }
            let room = max(0, window.size - queue.count - onTheWay.count)
            let allowance = window.pushesPerMillisecond.map {
                pace.allowance(perMillisecond: $0, at: Samples.monotonic(now))
            }
            let count = min(room, allowance ?? room)
            if allowance != nil { pace.wentOut(count) }
            queue.append(contentsOf: repeatElement(now, count: count))
            let served = queue.prefix(perMillisecond)
            queue.removeFirst(served.count)
            onTheWay.append(contentsOf: served.map { ($0, now + wayMilliseconds) })
        }
        return delays.sorted()
    }

    @Test("On a way that is long and narrow the queue stays short too, and the way is used", arguments: [20, 80])
    func longAndNarrow(wayMilliseconds: Int64) {
        let delays = delays(wayMilliseconds: wayMilliseconds, perMillisecond: 20, forMilliseconds: 20_000)
        #expect(delays.count > 10_000 * 20 * 8 / 10)
        let late = delays[delays.count * 99 / 100]
        #expect(late <= wayMilliseconds + wayMilliseconds / 2, "\(late) ms")
    }

    @Test("What is measured while the window is not in force does not change it")
    func notInForce() {
        var window = BulkCongestionWindow(maximum: 4_096)
        let size = window.size
        for delay in 0..<10_000 as Range<UInt64> {
            window.pushEnded(
                afterNanoseconds: delay % 40 * Self.millisecond, isRestricted: false,
                at: Samples.monotonic(Int64(delay)))
        }
        #expect(window.size == size)
    }

    @Test("A way that has become longer is taken as it is after some minutes")
    func forgets() {
        var window = BulkCongestionWindow(maximum: 4_096)
        var now: Int64 = 0
        for delay in [5, 60] as [UInt64] {
            for _ in 0..<2 * BulkCongestionWindow.memoryMilliseconds / 100 + 1_000 * 32 {
                window.pushEnded(
                    afterNanoseconds: delay * Self.millisecond, isRestricted: true, at: Samples.monotonic(now))
                now += 100
            }
            #expect(window.size == 4_096)
        }
    }
}
