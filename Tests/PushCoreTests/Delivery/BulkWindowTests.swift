import PushCore
import Testing

@Suite("What is left over for large fan-outs")
struct BulkWindowTests {
    /// A way that takes `base` milliseconds and serves so many pushes in each; what is more waits.
    private func settledSize(base: Int64, perMillisecond: Int, rounds: Int = 400) -> (size: Int, delay: Int64) {
        var window = BulkWindow(maximum: 4_096)
        var now: Int64 = 0
        func delay() -> Int64 { max(base, Int64(window.size / perMillisecond)) }
        // The way is known from a time when it was idle.
        for _ in 0..<BulkWindow.answersPerRound {
            window.pushEnded(afterMilliseconds: base, isRestricted: false, nowMilliseconds: now)
        }
        for _ in 0..<rounds * BulkWindow.answersPerRound {
            window.pushEnded(afterMilliseconds: delay(), isRestricted: true, nowMilliseconds: now)
            now += 1
        }
        return (window.size, delay())
    }

    @Test("On a way that is quick but narrow the queue stays short")
    func narrow() {
        let (size, delay) = settledSize(base: 1, perMillisecond: 100)
        #expect(delay <= 1 + 2 * BulkWindow.toleranceMilliseconds, "\(delay) ms with \(size) out")
        #expect(size >= 128)
    }

    @Test("On a way that is long but wide all of the window is used")
    func wide() {
        #expect(settledSize(base: 50, perMillisecond: 1_000).size == 4_096)
    }

    @Test("Never fewer than a thirty-second of the window are out, however slow the answers are")
    func least() {
        #expect(settledSize(base: 1, perMillisecond: 1).size == 128)
    }

    @Test("What is measured while the window is not in force does not change it")
    func notInForce() {
        var window = BulkWindow(maximum: 4_096)
        let size = window.size
        for delay in 0..<10_000 as Range<Int64> {
            window.pushEnded(afterMilliseconds: delay % 40, isRestricted: false, nowMilliseconds: delay)
        }
        #expect(window.size == size)
    }

    @Test("A way that has become longer is taken as it is after some minutes")
    func forgets() {
        var window = BulkWindow(maximum: 4_096)
        var now: Int64 = 0
        for delay in [5, 60] as [Int64] {
            for _ in 0..<2 * BulkWindow.memoryMilliseconds / 100 + 400 * 32 {
                window.pushEnded(afterMilliseconds: delay, isRestricted: true, nowMilliseconds: now)
                now += 100
            }
            #expect(window.size == 4_096)
        }
    }
}
