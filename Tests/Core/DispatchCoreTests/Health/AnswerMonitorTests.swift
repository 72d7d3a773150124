import DispatchCore
import PushTestKit
import Testing

@Suite("A push service that answers nothing")
struct AnswerMonitorTests {
    private static let patience: Int64 = 20_000

    private var monitor = AnswerMonitor()
    private var now: Int64 = 1_000_000

    /// Lets time pass in looks of a second, as a worker does.
    private mutating func pass(milliseconds duration: Int64) {
        let end = now + duration
        while now < end {
            now = min(end, now + 1_000)
            look()
        }
    }

    private mutating func look() { monitor.look(patienceMilliseconds: Self.patience, at: Samples.monotonic(now)) }

    private mutating func send() { monitor.pushWentOut(at: Samples.monotonic(now)) }

    private mutating func end(isAnswered: Bool) {
        if isAnswered { monitor.pushWasAnswered(at: Samples.monotonic(now)) }
        monitor.pushEnded(at: Samples.monotonic(now))
    }

    @Test("A service is silent when a push has been out for the patience without any answer, until the next answer")
    mutating func silent() {
        send()
        pass(milliseconds: Self.patience - 1)
        #expect(!monitor.isSilent)
        pass(milliseconds: 1)
        #expect(monitor.isSilent && monitor.unansweredMilliseconds == Self.patience)
        send()
        end(isAnswered: true)
        #expect(!monitor.isSilent && monitor.unansweredMilliseconds == 0 && monitor.pushesOut == 1)
    }

    @Test("Attempts that end without an answer, and the pauses before the next ones, make no service answer")
    mutating func retries() {
        for _ in 0..<3 {
            send()
            pass(milliseconds: 9_000)
            end(isAnswered: false)
            pass(milliseconds: 100_000)
        }
        #expect(monitor.isSilent && monitor.pushesOut == 0)
    }

    @Test("Single attempts without an answer that lie far apart add up to no silence")
    mutating func farApart() {
        for _ in 0..<10 {
            send()
            pass(milliseconds: 5_000)
            end(isAnswered: false)
            pass(milliseconds: AnswerMonitor.pauseMilliseconds)
        }
        #expect(!monitor.isSilent)
    }

    @Test("A service that answers one push in a while is not silent, however many it does not answer")
    mutating func rare() {
        for _ in 0..<50 { send() }
        for _ in 0..<20 {
            pass(milliseconds: Self.patience - 1)
            end(isAnswered: true)
        }
        #expect(!monitor.isSilent)
    }

    @Test("Without pushes nothing is silent, and the time in which the worker stood still does not count")
    mutating func standstill() {
        pass(milliseconds: 3_600_000)
        #expect(!monitor.isSilent)
        send()
        now += 3_600_000
        look()
        #expect(!monitor.isSilent && monitor.unansweredMilliseconds == Int64(AnswerMonitor.stepMilliseconds))
    }

    @Test("Silence is forgotten when nothing was sent for a long time, and not before")
    mutating func forgotten() {
        send()
        pass(milliseconds: Self.patience)
        end(isAnswered: false)
        pass(milliseconds: AnswerMonitor.memoryMilliseconds - 1)
        #expect(monitor.isSilent)
        pass(milliseconds: 1)
        #expect(!monitor.isSilent && monitor.unansweredMilliseconds == 0)
    }

    @Test(
        "The stopwatch shows the time that pushes were out since the last answer, whatever happens",
        arguments: 0..<50 as Range<UInt64>)
    mutating func oracle(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var out = 0
        /// The milliseconds since the last answer in which a push was out.
        var unanswered: Int64 = 0
        for step in 0..<400 {
            let duration = Int64.random(in: 0...1_000, using: &random)
            now += duration
            if out > 0 { unanswered += duration }
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                send()
                out += 1
            case 4 where out > 0:
                end(isAnswered: true)
                (out, unanswered) = (out - 1, 0)
            case 5...7 where out > 0:
                end(isAnswered: false)
                out -= 1
            default: break
            }
            look()
            #expect(monitor.pushesOut == out && monitor.unansweredMilliseconds == unanswered, "seed \(seed), \(step)")
            #expect(monitor.isSilent == (unanswered >= Self.patience), "seed \(seed), step \(step)")
        }
    }
}
