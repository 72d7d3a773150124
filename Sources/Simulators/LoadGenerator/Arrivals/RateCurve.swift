import Glibc

/// How many events a second are to be published, second by second, over a whole run.
///
/// A curve is a list of segments of constant rate, so the number of events up to any moment is exact.
public struct RateCurve: Sendable, Equatable {
    /// A part of the run with one rate.
    public struct Segment: Sendable, Equatable {
        /// How long it lasts, in seconds.
        public var seconds: Double
        /// Its events a second.
        public var perSecond: Double

        /// Creates a segment; negative numbers count as 0.
        public init(seconds: Double, perSecond: Double) {
            self.seconds = max(0, seconds)
            self.perSecond = max(0, perSecond)
        }
    }

    /// How the rate varies around its mean.
    public enum Pattern: String, CaseIterable, Sendable {
        /// It stays the same.
        case steady
        /// A tenth of the time has five times the mean rate, the rest has five ninths of it.
        case bursts
        /// The traffic of a day, compressed into the run: a fifth of the mean at night, almost twice the mean at noon.
        case day
    }

    /// The segments, in order.
    public let segments: [Segment]

    /// Creates a curve of segments.
    public init(_ segments: [Segment]) { self.segments = segments.filter { $0.seconds > 0 } }

    /// Creates a curve with a mean rate.
    ///
    /// - Parameters:
    ///   - pattern: how the rate varies.
    ///   - perSecond: the mean rate.
    ///   - seconds: how long the curve lasts.
    public init(_ pattern: Pattern, perSecond: Double, seconds: Double) {
        switch pattern {
        case .steady: self.init([Segment(seconds: seconds, perSecond: perSecond)])
        case .bursts:
            let periods = max(1, Int((seconds / 5).rounded()))
            let period = seconds / Double(periods)
            let one = [
                Segment(seconds: 0.9 * period, perSecond: perSecond * 5 / 9),
                Segment(seconds: 0.1 * period, perSecond: perSecond * 5),
            ]
            self.init(Array(repeatElement(one, count: periods).joined()))
        case .day:
            let parts = 96
            self.init(
                (0..<parts).map { part in
                    let angle = 2 * Double.pi * (Double(part) + 0.5) / Double(parts)
                    return Segment(seconds: seconds / Double(parts), perSecond: perSecond * (1 - 0.8 * cos(angle)))
                })
        }
    }

    /// Creates a curve that goes through steps, again and again until its end.
    ///
    /// - Parameters:
    ///   - steps: the steps; those without a length are left out.
    ///   - seconds: when the curve ends, in the midst of a step if need be.
    public init(repeating steps: [Segment], seconds: Double) {
        let steps = steps.filter { $0.seconds > 0 }
        var segments: [Segment] = []
        var left = seconds
        while left > 1e-9, !steps.isEmpty {
            var step = steps[segments.count % steps.count]
            step.seconds = min(step.seconds, left)
            left -= step.seconds
            segments.append(step)
        }
        self.init(segments)
    }

    /// How long it lasts, in seconds.
    public var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }

    /// How many events it has, as a real number.
    public var eventCount: Double { segments.reduce(0) { $0 + $1.seconds * $1.perSecond } }

    /// The same curve after a segment of its first rate, in which a deployment warms up.
    public func warmedUp(seconds: Double) -> RateCurve {
        guard let first = segments.first, seconds > 0 else { return self }
        return RateCurve([Segment(seconds: seconds, perSecond: first.perSecond)] + segments)
    }
}
