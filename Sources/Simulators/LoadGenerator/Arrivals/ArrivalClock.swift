import Essentials
import Glibc

/// Says when each event is to be published, whatever became of the events before: an open loop.
public struct ArrivalClock: Sendable {
    /// How events follow each other at one rate.
    public enum Spacing: String, CaseIterable, Sendable {
        /// At equal distances.
        case constant
        /// At random and independently of each other (a Poisson process), as the events of many users do.
        case poisson
    }

    private let curve: RateCurve
    private let spacing: Spacing
    private var random: SplitMix
    /// The mean number of events before the next one.
    private var target = 0.0
    private var segment = 0
    private var segmentStartSeconds = 0.0
    private var segmentStartCount = 0.0

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - curve: the rate.
    ///   - spacing: how events follow each other.
    ///   - seed: the seed of random distances; the same seed gives the same times.
    public init(_ curve: RateCurve, spacing: Spacing, seed: UInt64) {
        self.curve = curve
        self.spacing = spacing
        random = SplitMix(seed: seed)
        if spacing == .poisson { target = exponential() }
    }

    /// The time of the next event, in seconds since the start; nil after the end of the curve.
    public mutating func next() -> Double? {
        while segment < curve.segments.count {
            let current = curve.segments[segment]
            let end = segmentStartCount + current.seconds * current.perSecond
            // The tolerance keeps an event from being counted on both sides of a border.
            if target < end - 1e-9 {
                let seconds = segmentStartSeconds + (target - segmentStartCount) / current.perSecond
                target += spacing == .constant ? 1 : exponential()
                return seconds
            }
            segmentStartSeconds += current.seconds
            segmentStartCount = end
            segment += 1
        }
        return nil
    }

    /// A random number of the exponential distribution with the mean 1.
    private mutating func exponential() -> Double {
        // 53 bits, and never 0.
        -log((Double(random.next() >> 11) + 0.5) / 9_007_199_254_740_992)
    }
}
