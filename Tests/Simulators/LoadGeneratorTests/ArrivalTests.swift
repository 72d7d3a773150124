import PushTestKit
import Testing

@testable import LoadGenerator

@Suite("The arrivals of an open loop")
struct ArrivalTests {
    private func times(_ curve: RateCurve, _ spacing: ArrivalClock.Spacing, seed: UInt64 = 1) -> [Double] {
        var clock = ArrivalClock(curve, spacing: spacing, seed: seed)
        var times: [Double] = []
        while let time = clock.next() { times.append(time) }
        return times
    }

    /// The events up to a moment, by adding up very small steps.
    private func count(_ curve: RateCurve, until seconds: Double) -> Double {
        var (count, start) = (0.0, 0.0)
        for segment in curve.segments {
            count += max(0, min(segment.seconds, seconds - start)) * segment.perSecond
            start += segment.seconds
        }
        return count
    }

    @Test("Constant arrivals of any curve are where the events so far reach a whole number", arguments: 1...60)
    func constantFollowsTheCurve(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let curve = RateCurve(
            (0..<Int.random(in: 1...6, using: &random)).map { _ in
                RateCurve.Segment(
                    seconds: Double.random(in: 0...3, using: &random),
                    perSecond: Bool.random(using: &random) ? 0 : Double.random(in: 0...200, using: &random))
            })
        let found = times(curve, .constant)
        #expect(abs(Double(found.count) - curve.eventCount) <= 1.000_1)
        #expect(found == found.sorted())
        for (number, time) in found.enumerated() {
            #expect(abs(count(curve, until: time) - Double(number)) < 1e-6, "event \(number) of seed \(seed)")
        }
    }

    @Test("Poisson arrivals have the rate as mean and as variance, and the same seed gives the same times")
    func poisson() {
        let curve = RateCurve(.steady, perSecond: 1_000, seconds: 100)
        let found = times(curve, .poisson, seed: 7)
        #expect(abs(found.count - 100_000) < 1_500)
        #expect(found == times(curve, .poisson, seed: 7) && found != times(curve, .poisson, seed: 8))
        var counts = [Double](repeating: 0, count: 10_000)
        for time in found { counts[Int(time * 100)] += 1 }
        let mean = counts.reduce(0, +) / Double(counts.count)
        let variance = counts.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(counts.count)
        #expect(abs(mean - 10) < 0.2 && abs(variance - 10) < 1)
    }

    @Test("Each pattern lasts as long as asked for and has the mean rate", arguments: RateCurve.Pattern.allCases)
    func patternsKeepTheMean(pattern: RateCurve.Pattern) {
        for seconds in [1.0, 7, 30, 600] {
            let curve = RateCurve(pattern, perSecond: 50, seconds: seconds)
            #expect(abs(curve.seconds - seconds) < 1e-6)
            #expect(abs(curve.eventCount - 50 * seconds) < 1e-3 * seconds)
        }
    }

    @Test("Bursts rise to five times the mean, and noon to almost twice of it")
    func patternsVary() {
        func peak(_ curve: RateCurve) -> Double { curve.segments.map(\.perSecond).max() ?? 0 }
        #expect(peak(RateCurve(.bursts, perSecond: 10, seconds: 20)) == 50)
        let day = RateCurve(.day, perSecond: 10, seconds: 96)
        #expect(peak(day) > 17.9 && peak(day) <= 18)
        #expect((day.segments.first?.perSecond ?? 0) < 2.1)
    }

    @Test("Steps are repeated until the end, which may cut one short")
    func stepsRepeat() {
        let curve = RateCurve(
            repeating: [.init(seconds: 2, perSecond: 10), .init(seconds: 1, perSecond: 100)], seconds: 4)
        #expect(
            curve.segments == [
                .init(seconds: 2, perSecond: 10), .init(seconds: 1, perSecond: 100), .init(seconds: 1, perSecond: 10),
            ])
        #expect(RateCurve(repeating: [], seconds: 4).segments.isEmpty)
        #expect(curve.warmedUp(seconds: 3).segments.first == .init(seconds: 3, perSecond: 10))
    }
}
