public import Essentials

/// Spreads the pushes of large fan-outs over time while others are under way.
///
/// What goes out all at once is answered all at once, and then the next lot goes out all at once: on a long way a whole
/// window of pushes would stand before a small event time and again. So they go out about as fast as a window is
/// answered, and hardly any faster.
///
/// Source: the idea of pacing in TCP (RFC 9438, appendix; Linux, `tcp_update_pacing_rate`).
public struct BulkPace: Hashable, Sendable {
    /// What may be saved up, in milliseconds of the rate: a timer may be late by that much.
    public static let savedMillisecondsMaximum = 2.0

    private var saved = 0.0
    private var latest: MonotonicTime?

    /// Creates a pace with nothing saved up.
    public init() {}

    /// Lets time pass.
    ///
    /// - Parameters:
    ///   - rate: how many pushes may go out in a millisecond.
    ///   - now: when it is.
    /// - Returns: how many may go out now.
    public mutating func allowance(perMillisecond rate: Double, at now: MonotonicTime) -> Int {
        // The first moment counts as a millisecond.
        let passed = latest.map { Double(now.nanoseconds(since: $0)) / 1_000_000 } ?? 1
        latest = now
        saved = min(saved + rate * passed, max(1, rate * Self.savedMillisecondsMaximum))
        return max(0, Int(saved))
    }

    /// Pushes have gone out.
    public mutating func wentOut(_ count: Int) { saved -= Double(count) }
}
